import type { Readable } from 'node:stream';

const STATUS = 'HTTP/1.1 100';
/** The head of such a response, whole. */
const WHOLE = /^HTTP\/1\.1 100[\s\S]*?\n\r?\n/;

/** In bytes; undici refuses longer heads. */
const LONGEST = 16 * 1024;

/**
 * Drops "100 Continue" before a connection's first response. undici closes the connection at it, and
 * the response behind it, with the ID of a new instance, would be lost.
 */
export function skipContinue<S extends Readable>(socket: S): S {
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
  // Runs before undici's own listener, which then reads what is left.
  return socket.on('readable', onReadable);
}
