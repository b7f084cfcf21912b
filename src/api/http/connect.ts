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

/** Loaded by the caller only where they are needed: https and a proxy each cost start-up time. */
export interface ConnectParts {
  tls?: Pick<typeof Tls, 'connect' | 'createSecureContext'>;
  http?: typeof httpRequest;
}

export interface Connector {
  readonly connect: buildConnector.connector;
  /** Drops connections that are still on their way, which undici itself would wait for. */
  close(): void;
}

type Done = (error: ConnectError | undefined, socket?: Socket) => void;

/**
 * Opens the sockets of one service: straight, or through a tunnel of a proxy.
 *
 * @param meanwhile what there is to do while a connection is on its way; it is done before one is
 *   handed over.
 */
export function createConnector(
  parts: ConnectParts,
  tunnel: ProxyServer | undefined,
  meanwhile: () => void,
): Connector {
  const waiting = new Set<Socket>();

  /** Waits for the event after which the socket can be written to; `done` is called once. */
  function settle(socket: Socket, event: string, done: Done): void {
    waiting.add(socket);
    let open = true;
    const end = (code?: string) => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      waiting.delete(socket);
      if (code === undefined) {
        done(undefined, socket);
      } else {
        socket.destroy();
        done(new ConnectError(code));
      }
    };
    const timer = setTimeout(() => end('ETIMEDOUT'), CONNECT_MS);
    // The listener for errors stays: a late one without any would end the process.
    socket.on('error', (error) => end(codeOf(error)));
    socket.once('close', () => end('ECONNRESET'));
    socket.once(event, () => end());
  }

  function dial(hostname: string, port: number, secure: boolean, done: Done): void {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = netConnect({ host, port });
    socket.setNoDelay(true);
    if (!secure) {
      whileOnItsWay(socket, meanwhile);
      settle(socket, 'connect', done);
      return;
    }
    settle(socket, 'connect', (error) => {
      if (error === undefined) encrypt(host, port, socket, done);
      else done(error);
    });
    // The certificates of all authorities: Node 20 takes as long for them as an answer takes that
    // comes from far.
    whileOnItsWay(socket, secureContext);
  }

  function encrypt(host: string, port: number, under: Socket, done: Done): void {
    const { tls } = parts;
    const secured = attempt(() =>
      tls?.connect({
        host,
        port,
        socket: under,
        secureContext: secureContext(),
        ALPNProtocols: ['http/1.1'],
        ...(isIP(host) === 0 ? { servername: host } : {}),
      }),
    );
    if (secured === undefined) {
      under.destroy();
      done(new ConnectError('ERR_TLS_NOT_READY'));
      return;
    }
    secured.setNoDelay(true);
    // By now our first words are with the system.
    meanwhile();
    settle(secured, 'secureConnect', done);
  }

  let context: Tls.SecureContext | undefined;
  function secureContext(): Tls.SecureContext | undefined {
    context ??= parts.tls?.createSecureContext();
    return context;
  }

  function dig(proxy: ProxyServer, authority: string, done: Done): void {
    const { http } = parts;
    if (http === undefined) {
      done(new ConnectError('ERR_PROXY_NOT_LOADED'));
      return;
    }
    dial(proxy.url.hostname, proxy.port, proxy.url.protocol === 'https:', (error, socket) => {
      if (socket === undefined) {
        done(error);
        return;
      }
      const asking = http({
        method: 'CONNECT',
        path: authority,
        setHost: false,
        headers: {
          host: authority,
          ...(proxy.authorization === undefined
            ? {}
            : { 'proxy-authorization': proxy.authorization }),
        },
        createConnection: () => socket,
      });
      // The wait for the proxy's word is bounded like any other wait for a connection.
      settle(socket, 'tunnel', done);
      asking.on('error', (fault) => socket.destroy(fault));
      asking.once('connect', (answer, _socket, head: Buffer) => {
        const status = answer.statusCode ?? 0;
        if (status < 200 || status > 299) {
          socket.destroy(new ConnectError(`PROXY_${status}`));
          return;
        }
        if (head.length > 0) socket.unshift(head);
        socket.emit('tunnel');
      });
      asking.end();
    });
  }

  return {
    connect({ hostname, protocol, port }, callback) {
      const secure = protocol === 'https:';
      const number = Number(port === '' ? (secure ? 443 : 80) : (port ?? (secure ? 443 : 80)));
      const done: Done = (error, socket) => {
        if (socket === undefined) {
          callback(error ?? new ConnectError('ECONNRESET'), null);
        } else {
          meanwhile();
          callback(null, socket);
        }
      };
      if (tunnel === undefined) {
        dial(hostname, number, secure, done);
        return;
      }
      const host = hostname.includes(':') ? `[${hostname}]` : hostname;
      dig(tunnel, `${host}:${number}`, (error, socket) => {
        if (socket === undefined) done(error);
        else encrypt(hostname, number, socket, done);
      });
    },
    close() {
      for (const socket of waiting) socket.destroy();
    },
  };
}

/** What fails here is told where its outcome is needed. */
function whileOnItsWay(socket: Socket, work: () => unknown): void {
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
