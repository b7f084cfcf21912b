/**
 * Passes on only the bytes after a marker line. The bytes before it come from the instance's login shell,
 * whose start files may print a greeting before every command's output.
 */
export async function* afterLine(
  chunks: AsyncIterable<Uint8Array>,
  line: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const marker = Buffer.from(`${line}\n`);
  let before: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (before === undefined) {
      yield chunk;
      continue;
    }
    before = Buffer.concat([before, chunk]);
    const at = before.indexOf(marker);
    if (at >= 0) {
      const rest = before.subarray(at + marker.length);
      before = undefined;
      // Yield even without bytes, so that the caller knows that the line was received.
      yield rest;
    } else {
      // The next chunk may continue the marker.
      before = before.subarray(-marker.length);
    }
  }
}
