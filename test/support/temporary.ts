import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ERRORS } from '../../scripts/summary.mjs';

const MEMORY = '/dev/shm';
/** Enough bytes for a few executables. */
const ENOUGH_BYTES = 2 ** 31;

/**
 * Returns a folder in memory, where no test waits for a disk. In a container, this folder is often
 * too small or forbids programs.
 */
function fastest(): string {
  if (process.env.TMPDIR !== undefined || process.platform !== 'linux') return tmpdir();
  const mounts = readFileSync('/proc/mounts', 'utf8');
  const runsPrograms = new RegExp(`^tmpfs ${MEMORY} tmpfs rw(?!\\S*,noexec)`, 'm').test(mounts);
  if (!runsPrograms) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ENOUGH_BYTES ? MEMORY : tmpdir();
}

/**
 * Whether a program that a test killed may have made this after the test removed its folder: its
 * caches, and what holds only these. Shells end before the completion that they started.
 */
function isLate(path: string, all: readonly string[]): boolean {
  const inside = all.filter((one) => one.startsWith(`${path}/`));
  return (
    /\/state\/cache(?:\/|$)/.test(path) ||
    (inside.length > 0 && inside.every((one) => isLate(one, all)))
  );
}

/** Gives a test run its own temporary folder, and fails the run if a test leaves a file in it. */
export default function setup(): (() => void) | undefined {
  // Each vitest project calls this; only the first call does the work.
  if (process.env.GPUCLOUD_TEST_FOLDER !== undefined) return undefined;
  // Use a short name, since socket paths are limited to 108 bytes.
  const folder = mkdtempSync(join(fastest(), 'gc-'));
  // Some tests start programs as another user, who must reach a folder inside.
  chmodSync(folder, 0o711);
  process.env.GPUCLOUD_TEST_FOLDER = folder;
  process.env.TMPDIR = folder;
  // The built program's compiled code, for the computers of all tests.
  const code = join(folder, 'code');
  mkdirSync(code);

  return () => {
    rmSync(code, { recursive: true, maxRetries: 20 });
    const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    rmSync(folder, { recursive: true, maxRetries: 20 });
    const left = all.filter((path) => !isLate(path, all));
    if (left.length === 0) return;
    const text = `Tests left these files in TMPDIR:\n${left.join('\n')}\n`;
    process.stderr.write(text);
    mkdirSync(dirname(ERRORS), { recursive: true });
    appendFileSync(ERRORS, text);
    process.exitCode = 1;
  };
}
