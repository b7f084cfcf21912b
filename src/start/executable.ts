import { ASK_KEYRING } from '../platform/self.ts';
import { type Chunk, runChunks } from './loader.ts';

// The beginning of the executable, which scripts/executable.mjs puts before the chunks of the program.

interface Inside {
  readonly chunks: readonly Chunk[];
  readonly node: (id: string) => unknown;
  /** Runs src/keyring.ts. */
  readonly keyring: () => void;
}

export function start({ chunks, node, keyring }: Inside, argv: readonly string[]): void {
  const [only, ...more] = argv;
  if (only === ASK_KEYRING && more.length === 0) {
    keyring();
    return;
  }
  runChunks((id) => {
    const chunk = chunks[id];
    if (chunk === undefined) throw new Error('a part is missing');
    return chunk;
  }, node);
}
