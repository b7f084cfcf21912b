import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * The first port, below the range from which the system assigns ports to other tests and
 * connections.
 */
const LOWEST = 10_000;
const SHARE = 2_500;
/** Exceeds the number of workers in a run. */
const SHARES = 8;

/** Parallel files use different ports. A random start separates parallel runs. */
const first = LOWEST + ((Number(process.env.VITEST_POOL_ID ?? 1) - 1) % SHARES) * SHARE;
let next = randomInt(SHARE);

/** Returns a free loopback port outside the system's range. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < SHARE; tries += 1) {
    const port = first + (next++ % SHARE);
    const probe = createServer();
    try {
      await listenOn(probe, port);
    } catch {
      continue;
    }
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
  throw new Error('no port of 127.0.0.1 is free');
}

/** Listens on a loopback port; throws if it can't. */
export function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}
