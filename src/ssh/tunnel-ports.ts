import { type AddressInfo, createServer } from 'node:net';
import { checked } from '../command-line/parse.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { wholeNumber } from '../rules/numbers.ts';
import { sshPort } from '../rules/ssh.ts';
import { type Connection, connectionsOf, mainOf, namedEndpoint } from './endpoints.ts';
import type { Reached } from './reach.ts';

/** PORTS as typed, before the instance is known. */
interface WantedPorts {
  /**
   * Local port. undefined: the instance's port number, or any free port if that is in use. 0: any
   * free port.
   */
  readonly local: number | undefined;
  /** A port, the name of an endpoint, or undefined for the main endpoint. */
  readonly remote: number | string | undefined;
}

/**
 * Parses `8888`, `9000:8888`, `jupyter`, `9000:jupyter` or `0:8888`. A name may itself contain
 * colons.
 */
export function parsePorts(text: string | undefined): WantedPorts {
  if (text === undefined) return { local: undefined, remote: undefined };
  const [, local, remote = text] = /^([0-9]+):(.*)/s.exec(text) ?? [];
  if (remote === '') {
    throw usageError(`PORTS "${text}": must be [LOCAL:]REMOTE, with a port or an endpoint name`);
  }
  return {
    local:
      local === undefined
        ? undefined
        : checked('PORTS', local, (port) => wholeNumber(port, 0, 65_535, 'the local port')),
    remote: /^[0-9]+$/.test(remote) ? checked('PORTS', remote, sshPort) : remote,
  };
}

export interface RemoteEnd {
  readonly port: number;
  /** The port's endpoint, if known. */
  readonly endpoint: Connection | undefined;
}

/** Throws CliError('notFound') for an endpoint that does not exist, or that SSH can't carry. */
export async function remoteEnd(
  wanted: WantedPorts['remote'],
  { instance, target }: Reached,
  context: Context,
): Promise<RemoteEnd> {
  const all = await connectionsOf(instance, context);
  const overTcp = all.filter(({ protocol }) => !isUdp(protocol));
  if (typeof wanted === 'number') {
    return { port: wanted, endpoint: overTcp.find(({ port }) => port === wanted) };
  }
  const usable = overTcp.filter(({ port }) => sshPort(String(port)).ok);
  const endpoint = wanted === undefined ? mainOf(usable) : namedEndpoint(wanted, usable);
  if (endpoint?.port != null) return { port: endpoint.port, endpoint };
  const names = usable.map(({ name }) => name).join(', ');
  throw new CliError('notFound', missing(wanted, all, target.name), {
    resource: target.id,
    hint: names === '' ? 'use a port of the instance, such as 8888' : `available: ${names}`,
  });
}

function missing(wanted: string | undefined, all: readonly Connection[], instance: string): string {
  if (wanted === undefined) return `${instance} has no main endpoint.`;
  const found = namedEndpoint(wanted, all);
  if (found === undefined) return `PORTS "${wanted}": ${instance} has no endpoint with that name.`;
  return isUdp(found.protocol)
    ? `PORTS "${wanted}": the endpoint uses UDP, which SSH can't forward.`
    : `PORTS "${wanted}": the service returned no port for this endpoint.`;
}

function isUdp(protocol: string | null): boolean {
  return protocol?.toUpperCase() === 'UDP';
}

/**
 * Returns a local port. Fails if the requested port is in use; if none is requested, uses any free
 * port.
 */
export async function localPort(
  wanted: number | undefined,
  { port }: RemoteEnd,
  context: Context,
): Promise<number> {
  if (wanted === 0) return freePort();
  if (await isFree(wanted ?? port)) return wanted ?? port;
  if (wanted !== undefined) {
    throw usageError(
      `PORTS "${wanted}:${port}": local port ${wanted} is in use or needs root`,
      `use 0:${port} for any free port`,
    );
  }
  const other = await freePort();
  context.err.note(`Local port ${port} is in use; using ${other}.`);
  return other;
}

/** Whether this computer can listen on a loopback port now. */
export async function isFree(port: number): Promise<boolean> {
  return (await taken(port)) !== undefined;
}

/** Returns a free loopback port, chosen by the system. */
export async function freePort(): Promise<number> {
  const port = await taken(0);
  if (port === undefined) throw new Error('no port of 127.0.0.1 is free');
  return port;
}

/** Tries to listen on a port, then closes it. */
function taken(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
