import { type AddressInfo, createServer, type Server } from 'node:net';
import { hasSsh } from '../../rules/statuses.ts';
import type { Instance } from '../store/state.ts';
import { connectTo, type Wire } from './index.ts';
import type { Owners } from './place.ts';

interface Listening extends Omit<Wire, 'stdin' | 'stdout'> {
  /** Reads an instance; undefined for an unknown ID. */
  read(id: string): Promise<Instance | undefined>;
  /** Reports a connection that could not be served. */
  onFault(message: string): void;
}

export type SshPorts = ReturnType<typeof createSshPorts>;

/** First port: below the range that systems assign, with room for thousands. */
const [FIRST_PORT, PORTS] = [20_000, 12_000];

/** Derives the port from the ID, so that programs that follow a job find it again after a restart. */
function usualPort(id: string): number {
  return FIRST_PORT + (Number.parseInt(id.slice(0, 8), 16) % PORTS);
}

/** Serves SSH on 127.0.0.1. The instances share this address, so each has its own port. */
export function createSshPorts(
  file: string,
  owners: Owners,
  { read, onFault, ...wire }: Listening,
) {
  const servers = new Map<string, Promise<Server>>();

  function listen(id: string, port: number): Promise<Server> {
    const server = createServer((socket) => {
      const work = async () => {
        const instance = await read(id);
        if (instance === undefined || !hasSsh(instance.status)) return;
        await connectTo(file, owners, instance, { ...wire, stdin: socket, stdout: socket });
      };
      socket.on('error', () => undefined);
      work()
        .catch((error: Error) => onFault(error.message))
        .finally(() => socket.destroy());
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve(server));
    });
  }

  return {
    /** Returns the port of an instance, opened at its first use. */
    async portOf(id: string): Promise<number> {
      let server = servers.get(id);
      if (server === undefined) {
        // If the port is in use, use any free port.
        server = listen(id, usualPort(id)).catch(() => listen(id, 0));
        servers.set(id, server);
        // With too many open files, the next request tries again.
        server.catch(() => servers.delete(id));
      }
      return ((await server).address() as AddressInfo).port;
    },
    /** Frees the ports. Open connections close with their own signal. */
    async close(): Promise<void> {
      for (const server of await Promise.all(servers.values())) server.close();
    },
  };
}
