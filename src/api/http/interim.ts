import type { Readable } from 'node:stream';

/** The longest head of an interim answer that is waited for; undici takes none that is longer. */
const LONGEST = 16 * 1024;
/** 101 is an answer of its own: the connection goes over to another protocol. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r\n]/;
const STATUS_LINE = 'HTTP/1.1 100 ';

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
    const { at, isWhole } = skipped(held.toString('latin1'));
    held = held.subarray(at);
    if (!isWhole && held.length < LONGEST) return;
    socket.off('readable', onReadable);
    socket.unshift(held);
  };
  socket.on('readable', onReadable);
}

/** Where the interim answers at the front end, and whether it is plain that no other one follows. */
function skipped(text: string): { at: number; isWhole: boolean } {
  // Lines may end in LF alone (RFC 9112, 2.2), and undici too passes over empty ones.
  const ends = /\n\r?\n/g;
  for (let at = 0; ; at = ends.lastIndex) {
    while (text[at] === '\r' || text[at] === '\n') at += 1;
    const told = text.slice(at, at + STATUS_LINE.length);
    // What is too short to tell may become one.
    if (!INTERIM.test(told + STATUS_LINE.slice(told.length))) return { at, isWhole: true };
    ends.lastIndex = at;
    if (!ends.test(text)) return { at, isWhole: false };
  }
}
