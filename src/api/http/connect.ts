import type { request as httpRequest } from 'node:http';
import { isIP, connect as netConnect, type Socket } from 'node:net';
import type * as Tls from 'node:tls';
import type { buildConnector } from 'undici';
import type { ProxyServer } from './proxy.ts';

/** One address that does not answer must not eat a whole deadline: the next try may fare better. */
const CONNECT_MS = 10_000;

/**
 * A connection that did not come about. It is a class of our own, since undici takes some codes of
 * errors here (`UND_ERR_SOCKET`, `UND_ERR_INFO`) for a reason to connect again without end.
 */
export class ConnectError extends Error {
  readonly code: string;

  constructor(code: string) {
    super('no connection');
    this.code = code;
  }
}

/** What https and a proxy need, if there is one. */
export interface ConnectParts {
  tls?: Pick<typeof Tls, 'connect' | 'createSecureContext'>;
  http?: typeof httpRequest;
}

interface Connector {
  readonly connect: buildConnector.connector;
  /** Drops connections that are still being made, which undici itself would wait for. */
  close(): void;
}

/**
 * Opens the sockets of one service: straight, or through a tunnel of a proxy.
 *
 * @param meanwhile what there is to do while a connection is being made; it is done before one is
 *   handed over.
 */
export function createConnector(
  { tls, http }: ConnectParts,
  tunnel: ProxyServer | undefined,
  meanwhile: () => void,
): Connector {
  const waiting = new Set<Socket>();
  let context: Tls.SecureContext | undefined;
  const secureContext = () => {
    context ??= tls?.createSecureContext();
    return context;
  };

  /** Waits for the event after which the socket can be written to. */
  function ready(socket: Socket, event: string): Promise<Socket> {
    waiting.add(socket);
    let timer: NodeJS.Timeout | undefined;
    return new Promise<Socket>((resolve, reject) => {
      const fail = (code: string) => {
        socket.destroy();
        reject(new ConnectError(code));
      };
      timer = setTimeout(fail, CONNECT_MS, 'ETIMEDOUT');
      // The listener for errors stays: a late one without any would end the process.
      socket.on('error', (error) => fail(codeOf(error)));
      socket.once('close', () => fail('ECONNRESET'));
      socket.once(event, () => resolve(socket));
    }).finally(() => {
      clearTimeout(timer);
      waiting.delete(socket);
    });
  }

  async function dial(hostname: string, port: number, isSecure: boolean): Promise<Socket> {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = netConnect({ host, port });
    socket.setNoDelay(true);
    // Node 20 takes as long to read the certificates of all authorities as a far service to respond.
    whileConnecting(socket, isSecure ? secureContext : meanwhile);
    await ready(socket, 'connect');
    return isSecure ? encrypt(host, socket) : socket;
  }

  async function encrypt(host: string, under: Socket): Promise<Socket> {
    const secured = attempt(() =>
      tls?.connect({
        host,
        socket: under,
        secureContext: secureContext(),
        ALPNProtocols: ['http/1.1'],
        ...(isIP(host) === 0 ? { servername: host } : {}),
      }),
    );
    if (secured === undefined) {
      under.destroy();
      throw new ConnectError('ERR_TLS_NOT_READY');
    }
    secured.setNoDelay(true);
    // By now the first words of the handshake are with the system.
    meanwhile();
    return ready(secured, 'secureConnect');
  }

  /** A tunnel through a proxy: CONNECT, and the socket is the service's. */
  async function dig(proxy: ProxyServer, authority: string): Promise<Socket> {
    const socket = await dial(proxy.url.hostname, proxy.port, proxy.url.protocol === 'https:');
    const { authorization } = proxy;
    const asking = http?.({
      method: 'CONNECT',
      path: authority,
      setHost: false,
      headers: {
        host: authority,
        ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
      },
      createConnection: () => socket,
    });
    asking?.on('error', (fault) => socket.destroy(fault));
    asking?.once('connect', (response, _socket, head: Buffer) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) {
        socket.destroy(new ConnectError(`PROXY_${status}`));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      socket.emit('tunnel');
    });
    asking?.end();
    return ready(socket, 'tunnel');
  }

  async function open(hostname: string, port: number, isSecure: boolean): Promise<Socket> {
    if (tunnel === undefined) return dial(hostname, port, isSecure);
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    return encrypt(hostname, await dig(tunnel, `${host}:${port}`));
  }

  return {
    connect({ hostname, protocol, port }, callback) {
      const isSecure = protocol === 'https:';
      open(hostname, Number(port || (isSecure ? 443 : 80)), isSecure).then(
        (socket) => {
          meanwhile();
          callback(null, socket);
        },
        (error) => callback(error, null),
      );
    },
    close() {
      for (const socket of waiting) socket.destroy();
    },
  };
}

/** A failure here shows again when the outcome of the work is needed. */
function whileConnecting(socket: Socket, work: () => unknown): void {
  socket.once('connectionAttempt', () => {
    setImmediate(() => attempt(() => (socket.destroyed ? undefined : work())));
  });
}

/** The code of a network error; several addresses that failed (AggregateError) give the first's. */
export function codeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null) {
    if ('code' in error && typeof error.code === 'string' && /^[A-Z0-9_]+$/.test(error.code)) {
      return error.code;
    }
    // undici's parser gives some of its faults no code.
    if ('name' in error && error.name === 'HTTPParserError') return 'HPE_UNKNOWN';
    // What undici's parser needs and does not find has no code either: it is V8 that says so.
    if (error instanceof Error && error.message.includes('WebAssembly')) return 'NO_WASM';
    if (error instanceof AggregateError && error.errors.length > 0) {
      return codeOf(error.errors[0]);
    }
  }
  return 'UNKNOWN';
}

/** Node's own settings (NODE_OPTIONS, OPENSSL_CONF) may be such that there is no TLS. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
