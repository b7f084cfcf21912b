// Adds this version's new contract entries to test/golden/. With --replace, removes missing ones
// too.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const mode = process.argv.includes('--replace') ? 'replace' : 'add';
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--project', 'code', 'test/golden'],
  {
    stdio: 'inherit',
    env: { ...process.env, GPUCLOUD_GOLDEN: mode },
  },
);
process.exitCode = status ?? 1;
