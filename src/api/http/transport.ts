import { Client, Pool } from 'undici';
import { usageError } from '../../errors.ts';
import { ConnectError, type ConnectParts, createConnector } from './connect.ts';
import { exchange, type HttpResponse, type WireRequest } from './exchange.ts';
import { parserCompiler } from './parser.ts';
import { parserCode } from './parser-code.ts';
import { type ProxyServer, proxyFor } from './proxy.ts';

// Only this folder imports undici.

/**
 * Connections per service: enough for a hundred concurrent reads and a few more. Without a limit,
 * undici opens a new connection with its TLS handshake instead of waiting briefly for a free one.
 */
const MOST_CONNECTIONS = 104;

export interface Transport {
  /** See {@link exchange}. */
  exchange(
    request: WireRequest,
    signal: AbortSignal,
    onSending: (() => void) | undefined,
  ): Promise<HttpResponse>;
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens connections to a service. Load this module at the first request: loading undici takes
 * longer than the rest of a command.
 *
 * @param nodeVersion as `v20.20.2`.
 * @throws CliError `usage` if the environment names an unusable proxy or turns certificate checks
 * off.
 */
export async function createTransport(
  target: URL,
  env: Environment,
  nodeVersion?: string,
): Promise<Transport> {
  const parts: ConnectParts = {};
  let proxy: ProxyServer | undefined;
  if (target.protocol === 'https:') {
    ensureCertificatesChecked(env);
    proxy = proxyFor(target, env);
    // Each of these modules costs start-up time, so load only the required module.
    const { connect, createSecureContext } = await import('node:tls');
    parts.tls = { connect, createSecureContext };
    if (proxy !== undefined) parts.http = (await import('node:http')).request;
  }
  const connector = createConnector(parts, proxy, parserCompiler(nodeVersion, parserCode));
  // Turns off undici's idle timers, since the call's deadline covers them.
  const options = {
    connect: connector.connect,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const pool = new Pool(target.origin, {
    ...options,
    pipelining: 1,
    connections: MOST_CONNECTIONS,
  });
  const fresh = new Set<Client>();

  return {
    async exchange(request, signal, onSending) {
      if (request.method !== 'POST' && request.method !== 'PUT') {
        return exchange(pool, request, signal, onSending);
      }
      // Opens a new connection for each POST. On a kept-alive connection that is closing, the
      // request would be lost with an unknown outcome.
      const client = new Client(target.origin, { ...options, pipelining: 0 });
      fresh.add(client);
      try {
        return await exchange(client, request, signal, onSending);
      } finally {
        fresh.delete(client);
        void client.destroy(ending());
      }
    },
    async close() {
      const ends = [pool, ...fresh].map((client) => client.destroy(ending()));
      connector.close();
      await Promise.allSettled(ends);
    },
  };
}

/** Rejects NODE_TLS_REJECT_UNAUTHORIZED=0: Node.js and Bun would send the key to any server. */
function ensureCertificatesChecked(env: Environment): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  throw usageError(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off certificate checks, so any server could get the API key.',
    'unset the variable; to trust more certificates, set NODE_EXTRA_CA_CERTS to a file that contains them',
  );
}

/** Fails the requests in flight when a connection is closed. */
function ending(): Error {
  const error = new ConnectError('UND_ERR_DESTROYED');
  // Sets the stack, since Node reads it: V8 would count all lines of the bundle to build it.
  error.stack = error.message;
  return error;
}
