import { connect } from 'node:net';
import type { Connection, ServerChannel } from './ssh2.ts';

/**
 * Returns the page in place of the program on a port of the instance; undefined for a port without
 * a page.
 */
export type PageAt = (port: number) => string | undefined;

/**
 * Maximum open forwardings of a connection: more than a browser opens, and few enough to stop a
 * loop.
 */
const MOST_FORWARDS = 128;

/**
 * Serves the port forwardings of a connection. Ports of the template and the container show a page.
 * All others reach the programs that listen on this computer's loopback.
 */
export function serveForwards(client: Connection, pageAt: PageAt): void {
  const own = new Set<number | undefined>();
  // Counts a forwarding from its request on, since several may be connecting.
  let forwards = 0;
  client.on('tcpip', (open, refuse, { destIP, destPort, srcPort }) => {
    // Refuses other hosts, since they don't belong to the instance.
    if (!/^(?:localhost|127\.[\d.]+|::1)$/i.test(destIP)) return refuse();
    const page = pageAt(destPort);
    if (page !== undefined) return servePage(open(), page);
    // Both ends of a tunnel are on this computer, so a tunnel between equal ports would connect to
    // itself. Tunnels between different ports can still form a loop, and open connections up to the
    // limit.
    if (own.has(srcPort) || forwards >= MOST_FORWARDS) return refuse();
    forwards += 1;
    const socket = connect({ host: destIP, port: destPort });
    socket.once('close', () => {
      forwards -= 1;
    });
    socket.once('error', refuse);
    socket.once('connect', () => {
      const { localPort } = socket;
      own.add(localPort);
      const channel = open();
      socket.off('error', refuse).on('error', () => channel.close());
      socket.once('close', () => own.delete(localPort));
      channel.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.pipe(channel).pipe(socket);
    });
  });
}

/** Header terminator, and the longest accepted header in bytes. */
const [HEAD_END, LONGEST_HEAD] = [/\r?\n\r?\n/, 64 * 1024];

/** Responds to one HTTP request with a page. Bun's HTTP server can't use an existing stream. */
function servePage(channel: ServerChannel, page: string): void {
  let head = '';
  channel.on('error', () => undefined);
  channel.on('data', (chunk: Buffer) => {
    if (channel.writableEnded) return;
    head += chunk.toString('latin1');
    if (head.length > LONGEST_HEAD) channel.close();
    if (!HEAD_END.test(head)) return;
    const lines = [
      'HTTP/1.1 200 OK',
      'content-type: text/html; charset=utf-8',
      `content-length: ${Buffer.byteLength(page)}`,
      'connection: close',
    ];
    channel.end(`${lines.join('\r\n')}\r\n\r\n${head.startsWith('HEAD ') ? '' : page}`);
  });
  channel.on('end', () => channel.end());
}
