import { ASK_KEYRING } from '../platform/self.ts';
import { type Chunk, runChunks } from './loader.ts';
import { printedVersion } from './version.ts';

// The start of the executable; scripts/executable.mjs puts it before the program's chunks.

interface Inside {
  readonly chunks: readonly Chunk[];
  readonly node: (id: string) => unknown;
  /** Runs src/keyring.ts. */
  readonly keyring: () => void;
}

export function start({ chunks, node, keyring }: Inside, argv: readonly string[]): void {
  if (printedVersion(argv)) return;
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
