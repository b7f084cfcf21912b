import { Writable } from 'node:stream';

const COLOURS = /\u001b\[[0-9;]*m/g;

/**
 * A terminal without colours. inquirer has no switch for them, and on Node 20 ignores NO_COLOR; it
 * still moves the cursor, which a question needs.
 */
export function withoutColours(
  terminal: Writable & { isTTY?: boolean; columns?: number },
): Writable & { columns?: number } {
  const colourless = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      terminal.write(String(chunk).replace(COLOURS, ''), done);
    },
  });
  return Object.defineProperty(colourless, 'columns', { get: () => terminal.columns });
}
