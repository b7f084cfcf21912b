/** What is read at once is shorter, but for a part that few commands need. */
const BYTES = 512 * 1024;

let memory: Buffer | undefined;

/**
 * Memory to read into, which the next call gives away again: the system takes longer to hand out a
 * fresh page than to fill it. Of what is never written, no page is handed out.
 */
export function scratch(length: number): Buffer {
  if (length > BYTES) return Buffer.allocUnsafeSlow(length);
  memory ??= Buffer.allocUnsafeSlow(BYTES);
  return memory.subarray(0, length);
}
