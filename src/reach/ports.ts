import { createServer } from 'node:net';

/** Whether this computer can listen on a loopback port now. */
export async function isFree(port: number): Promise<boolean> {
  return (await taken(port)) !== undefined;
}

/** A free port of loopback, chosen by the system. */
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
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
