import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { BUNDLE } from '../../scripts/bundle.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A bundle of its own, beside the built program. */
export interface Bundle {
  readonly path: string;
  remove(): Promise<void>;
}

/** A source change that removes a safeguard. */
export interface Mutant {
  readonly name: string;
  /** Relative to src/. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Builds the program without a safeguard, and leaves the source unchanged. */
export async function mutantBundle({ file, from, to, name }: Mutant): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-mutant-'));
  const path = join(folder, 'gpucloud.cjs');
  const target = join(ROOT, 'src', file);
  let changed = false;
  const patch: Plugin = {
    name: 'mutant',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path: source }) => {
        if (source !== target) return undefined;
        const contents = readFileSync(source, 'utf8');
        changed = contents.includes(from);
        return { contents: contents.replaceAll(from, to), loader: 'ts' };
      });
    },
  };
  await build({
    ...BUNDLE,
    outfile: path,
    plugins: [patch, ...(BUNDLE.plugins ?? [])],
    define: { GPUCLOUD_VERSION: '"0.0.0-mutant"' },
  });
  // An unchanged mutant would prove nothing.
  if (!changed) throw new Error(`${name}: ${file} does not hold the words that are to be changed`);
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
