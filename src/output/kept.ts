import { Writable } from 'node:stream';

/** Bytes that are kept. */
export const KEPT = 16 * 1024 * 1024;

/** Keeps the end of the output of a command that another command runs. */
export class Kept extends Writable {
  readonly #chunks: Buffer[] = [];
  #size = 0;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size > KEPT && this.#chunks.length > 1) {
      this.#size -= this.#chunks.shift()?.length ?? 0;
    }
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
