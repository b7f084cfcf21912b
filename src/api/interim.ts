import type { Readable } from 'node:stream';

/** The longest head of an interim answer that is waited for; undici takes none that is longer. */
const LONGEST = 16 * 1024;
/** 101 is an answer of its own: the connection goes over to another protocol. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
const STATUS_LINE = 'HTTP/1.1 100 ';
const END = '\r\n\r\n';

/**
 * Takes interim answers (1xx) off the front of a new connection that carries one request. A client
 * has to understand them unasked (RFC 9110, 15.2), and a proxy that asks for `100 Continue` on its own
 * makes some; undici ends the connection at one, and a machine that was rented would be in doubt.
 *
 * It has to listen before whoever reads the connection does, who then finds what is left.
 */
export function skipInterim(socket: Readable): void {
  let held = Buffer.alloc(0);
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const head = held.toString('latin1', 0, LONGEST);
      const end = INTERIM.test(head) ? head.indexOf(END) : undefined;
      if (end === undefined ? isBegun(head) : end < 0 && held.length < LONGEST) return;
      if (end === undefined || end < 0) break;
      held = held.subarray(end + END.length);
    }
    socket.off('readable', onReadable);
    socket.unshift(held);
  };
  socket.on('readable', onReadable);
}

/** Too short to tell what it is. */
function isBegun(head: string): boolean {
  return head.length < STATUS_LINE.length && STATUS_LINE.startsWith(head.slice(0, 9));
}
