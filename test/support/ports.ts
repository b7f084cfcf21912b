import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Below the ports that systems give out by themselves: one of those that was let go may be
 * another test's, or the near end of any connection, when it is taken again.
 */
const LOWEST = 10_000;
const SHARE = 5_000;
const SHARES = 4;

/** What runs beside this file has ports of its own; another run begins elsewhere. */
const first = LOWEST + ((Number(process.env.VITEST_POOL_ID ?? 1) - 1) % SHARES) * SHARE;
let next = randomInt(SHARE);

/** A port of loopback on which nothing listens, and nothing will that does not ask for just this one. */
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

/** Listens on a port of loopback; throws where that can't be. */
export function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}
