import type { request as httpRequest } from 'node:http';
import { isIP, connect as netConnect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type * as Tls from 'node:tls';
import type { buildConnector } from 'undici';
import type { ProxyServer } from './proxy.ts';

/** Limits one connection attempt, so that a dead address can't use up the whole deadline. */
const CONNECT_MS = 10_000;

/**
 * Limits one attempt if the name has several addresses. Node's default of 250 ms drops every attempt
 * but the last, so that a slow network with an unusable IPv6 address never connects.
 */
const ADDRESS_MS = CONNECT_MS / 4;

/**
 * Marks a failed connection with its own class, because undici reconnects endlessly after some
 * error codes (`UND_ERR_SOCKET`, `UND_ERR_INFO`).
 */
export class ConnectError extends Error {
  readonly code: string;

  constructor(code: string) {
    super('no connection');
    this.code = code;
  }
}

/** TLS options for https, both to the service and to a proxy. */
export interface ConnectParts {
  tls?: Pick<typeof Tls, 'connect' | 'createSecureContext'>;
  http?: typeof httpRequest;
}

interface Connector {
  readonly connect: buildConnector.connector;
  /** Drops connections in progress, since undici would wait for them. */
  close(): void;
}

/**
 * Opens sockets to one service, directly or through a proxy's tunnel.
 *
 * @param meanwhile work to do while connecting; it completes before a socket is returned.
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

  function ready(socket: Socket, event: string): Promise<Socket> {
    waiting.add(socket);
    let timer: NodeJS.Timeout | undefined;
    return new Promise<Socket>((resolve, reject) => {
      const fail = (code: string) => {
        socket.destroy();
        reject(new ConnectError(code));
      };
      timer = setTimeout(fail, CONNECT_MS, 'ETIMEDOUT');
      // Keep the error listener: without it, a late error would crash the process.
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
    const socket = netConnect({ host, port, autoSelectFamilyAttemptTimeout: ADDRESS_MS });
    socket.setNoDelay(true);
    // Loads the root certificates now: in Node 20 that takes as long as a response from a distant
    // service.
    whileConnecting(socket, isSecure ? secureContext : meanwhile);
    await ready(socket, 'connect');
    return isSecure ? encrypt(host, socket) : socket;
  }

  async function encrypt(host: string, under: Socket): Promise<Socket> {
    let secured: Tls.TLSSocket | undefined;
    try {
      secured = tls?.connect({
        host,
        socket: under,
        secureContext: secureContext(),
        ALPNProtocols: ['http/1.1'],
        ...(isIP(host) === 0 ? { servername: host } : {}),
      });
    } catch {
      // Node's settings (NODE_OPTIONS, OPENSSL_CONF) may disable TLS.
    }
    if (secured === undefined) {
      under.destroy();
      throw new ConnectError('ERR_TLS_NOT_READY');
    }
    secured.setNoDelay(true);
    // Runs while the handshake's first bytes are in transit, so it delays nothing.
    meanwhile();
    return ready(secured, 'secureConnect');
  }

  /** Opens a tunnel through a proxy (CONNECT), then hands over the socket. */
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
    asking?.once('connect', ({ statusCode }) => {
      if (/^2/.test(`${statusCode}`)) socket.emit('tunnel');
      else socket.destroy(new ConnectError(`PROXY_${statusCode}`));
    });
    asking?.end();
    return ready(socket, 'tunnel');
  }

  async function openThrough(proxy: ProxyServer, hostname: string, port: number): Promise<Socket> {
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    return encrypt(hostname, await dig(proxy, `${host}:${port}`));
  }

  return {
    connect({ hostname, protocol, port }, callback) {
      const isSecure = protocol === 'https:';
      const at = Number(port || (isSecure ? 443 : 80));
      const opened =
        tunnel === undefined ? dial(hostname, at, isSecure) : openThrough(tunnel, hostname, at);
      opened.then(
        (socket) => {
          meanwhile();
          callback(null, skipContinue(socket));
        },
        (error) => callback(error, null),
      );
    },
    close() {
      for (const socket of waiting) socket.destroy();
    },
  };
}

/** Ignores failures, since the same error occurs again when the result is needed. */
function whileConnecting(socket: Socket, work: () => unknown): void {
  socket.once('connectionAttempt', () => {
    setImmediate(() => {
      try {
        if (!socket.destroyed) work();
      } catch {
        // Node's settings may disable TLS; `encrypt` reports that.
      }
    });
  });
}

/** Returns a network error's code. Node's error for several failed addresses has that of the first. */
export function codeOf(error: Error): string {
  if ('code' in error && typeof error.code === 'string' && /^[A-Z0-9_]+$/.test(error.code)) {
    return error.code;
  }
  // Some errors of undici's parser have no code.
  if (error.name === 'HTTPParserError') return 'HPE_UNKNOWN';
  // V8 throws this error without a code if it can't run the WebAssembly of undici's parser.
  return error.message.includes('WebAssembly') ? 'NO_WASM' : 'UNKNOWN';
}

const STATUS = 'HTTP/1.1 100';
/** Matches a complete 100 response. */
const WHOLE = /^HTTP\/1\.1 100[\s\S]*?\n\r?\n/;

/** Bytes. undici refuses longer heads. */
const LONGEST = 16 * 1024;

/**
 * Drops "100 Continue" before a connection's first response. undici would close the connection and
 * lose the real response, and with it a new instance's ID.
 */
function skipContinue<S extends Readable>(socket: S): S {
  let held = '';
  function onReadable(): void {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    held += chunk.toString('latin1');
    while (WHOLE.test(held)) held = held.replace(WHOLE, '');
    const mayGoOn = STATUS.startsWith(held) || held.startsWith(STATUS);
    if (mayGoOn && held.length < LONGEST) return;
    socket.off('readable', onReadable);
    socket.unshift(Buffer.from(held, 'latin1'));
  }
  // Runs before undici's own listener, since that reads the remaining bytes.
  return socket.on('readable', onReadable);
}
