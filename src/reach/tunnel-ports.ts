import { checked } from '../cli/parse.ts';
import type { Tunnel } from '../commands/instances/tunnel-view.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { wholeNumber } from '../rules/numbers.ts';
import { type Connection, connectionsOf } from './connections.ts';
import { freePort, isFree } from './ports.ts';
import type { Reached } from './reach.ts';
import { sshPort } from './way.ts';

/** What was asked for, before the machine is known. */
export interface WantedPorts {
  /** undefined: the same number as on the machine, or any that is free. 0: any that is free. */
  readonly local: number | undefined;
  /** A port, the name of an endpoint, or undefined for the main one. */
  readonly remote: number | string | undefined;
}

/** `8888`, `9000:8888`, `jupyter`, `9000:jupyter`, `0:8888`. A name may hold colons of its own. */
export function parsePorts(text: string | undefined): WantedPorts {
  if (text === undefined) {
    return { local: undefined, remote: undefined };
  }
  const [, local, remote = text] = /^([0-9]+):(.*)$/s.exec(text) ?? [];
  if (remote === '') {
    throw usageError(`PORTS "${text}": it is [LOCAL:]REMOTE, with a port or an endpoint's name`);
  }
  return {
    local:
      local === undefined
        ? undefined
        : checked('PORTS', local, (port) => wholeNumber(port, 0, 65_535, 'a local port')),
    remote: /^[0-9]+$/.test(remote) ? checked('PORTS', remote, sshPort) : remote,
  };
}

/** The end of a tunnel on the machine. */
export interface RemoteEnd {
  readonly port: number;
  /** The endpoint there, where the service tells of one. */
  readonly endpoint: Connection | undefined;
}

/** Throws CliError('notFound') for an endpoint that is not there or can't be led through a tunnel. */
export async function remoteEnd(
  wanted: WantedPorts['remote'],
  { instance, target }: Reached,
  context: Context,
): Promise<RemoteEnd> {
  const all = await connectionsOf(instance, context);
  if (typeof wanted === 'number') {
    const endpoint = all.find(({ port, protocol }) => port === wanted && !isUdp(protocol));
    return { port: wanted, endpoint };
  }
  const usable = all.filter(({ port, protocol }) => isPort(port) && !isUdp(protocol));
  const endpoint =
    wanted === undefined
      ? (usable.find(({ is_main }) => is_main) ?? (usable.length === 1 ? usable[0] : undefined))
      : usable.find(({ name }) => name === wanted);
  if (endpoint !== undefined && isPort(endpoint.port)) {
    return { port: endpoint.port, endpoint };
  }
  const names = usable.map(({ name }) => name).join(', ');
  const hint = names === '' ? 'name a port of the machine, such as 8888' : `there are: ${names}`;
  throw new CliError('notFound', missing(wanted, all, target.name), {
    resource: target.id,
    hint,
  });
}

function missing(wanted: string | undefined, all: readonly Connection[], machine: string): string {
  if (wanted === undefined) {
    return `${machine} has no endpoint that is the one to reach.`;
  }
  const found = all.find(({ name }) => name === wanted);
  if (found === undefined) {
    return `PORTS "${wanted}": ${machine} has no endpoint of that name.`;
  }
  return isUdp(found.protocol)
    ? `PORTS "${wanted}": it is UDP, which SSH does not carry.`
    : `PORTS "${wanted}": the service gives no port for it.`;
}

function isPort(port: number | null): port is number {
  return port !== null && Number.isInteger(port) && port >= 1 && port <= 65_535;
}

function isUdp(protocol: string | null): boolean {
  return protocol?.toUpperCase() === 'UDP';
}

/** A port that was asked for is taken or refused; one that was not is any that is free. */
export async function localPort(
  wanted: number | undefined,
  { port }: RemoteEnd,
  context: Context,
): Promise<number> {
  if (wanted === 0) {
    return freePort();
  }
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted;
    throw usageError(
      `PORTS "${wanted}:${port}": port ${wanted} of this computer is taken or not yours to take`,
      `0:${port} takes any that is free`,
    );
  }
  if (await isFree(port)) {
    return port;
  }
  const other = await freePort();
  context.err.note(`Port ${port} of this computer is taken; ${other} is used.`);
  return other;
}

export function tunnelOf(
  { target, instance }: Reached,
  { port, endpoint }: RemoteEnd,
  local: number,
): Tunnel {
  return {
    instance_id: target.id,
    name: target.name,
    endpoint: endpoint?.name ?? null,
    url: localLink(endpoint?.url ?? null, local),
    address: `127.0.0.1:${local}`,
    local_port: local,
    remote_port: port,
    secrets: instance.connection_info?.secrets,
  };
}

/** The link of an endpoint with this end of the tunnel in the place of the machine. */
function localLink(url: string | null, local: number): string | null {
  if (url === null) {
    return null;
  }
  const link = new URL(url);
  link.hostname = '127.0.0.1';
  link.port = String(local);
  return link.href;
}
