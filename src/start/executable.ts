import { fstatSync, writeSync } from 'node:fs';
import { ASK_KEYRING } from '../system/self.ts';
import { type Body, runModules } from './modules.ts';

// Starts the executable; scripts/executable.mjs puts this file before the program's modules.

declare const GPUCLOUD_VERSION: string;

interface Inside {
  readonly modules: readonly Body[];
  readonly node: (id: string) => unknown;
  /** Starts src/system/keyring.ts. */
  readonly keyring: () => void;
}

export function start({ modules, node, keyring }: Inside, argv: readonly string[]): void {
  if (printedVersion(argv)) return;
  const [only, ...more] = argv;
  if (only === ASK_KEYRING && more.length === 0) keyring();
  else runModules((number) => modules[number] as Body, node);
}

/** Prints the version, as bin/gpucloud.js does from a file. */
function printedVersion([only, ...more]: readonly string[]): boolean {
  if (more.length > 0 || (only !== '--version' && only !== '-V')) return false;
  const version = `gpucloud ${GPUCLOUD_VERSION}\n`;
  try {
    return !fstatSync(1).isFile() && writeSync(1, version) === version.length;
  } catch {
    return false;
  }
}
