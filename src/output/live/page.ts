import { Writable } from 'node:stream';

/** A fake terminal that stores its output as text. */
export function createPage(columns: number | undefined) {
  const parts: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      parts.push(String(chunk));
      done();
    },
  });
  const size = columns === undefined ? {} : { columns };
  return {
    stream: Object.assign(stream, { isTTY: true as const, ...size }),
    text: () => parts.join(''),
  };
}
