import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RUNNER } from '../support/program.ts';
import { NO_FAULT, POINTS } from './proxy.ts';
import { argvFor, type Kill, openRig, type Scenario } from './rig.ts';

const run = promisify(execFile);

/** System calls that change the disk. */
export const DISK_CALLS = [
  'mkdir',
  'chmod',
  'openat',
  'fsync',
  'rename',
  'link',
  'unlink',
] as const;

/** Frequent system calls, for kills at random. */
export const ANY_CALLS = [...DISK_CALLS, 'write', 'read', 'close', 'futex', 'sendto'];

export const NETWORK_KILLS: readonly Kill[] = POINTS.filter((point) => point !== 'refused').map(
  (at) => ({ at }),
);

/** Files that mark points of a run, for systems without strace. */
export const FILE_KILLS: readonly Kill[] = [
  /@keys\/.*\.json$/,
  /requests$/,
  /requests\/.*\.json$/,
  /instances\/.*\.tmp$/,
  /instances\/.*\.json$/,
].map((file) => ({ file }));

/**
 * Returns a point before each call of one run that changes the disk. The first run on a computer
 * creates all folders.
 */
export async function diskKills(
  bundle: string,
  operation: Scenario['operation'],
  when: 'first' | 'later',
  flags: readonly string[] = [],
): Promise<readonly Kill[]> {
  const log = await traceOf(bundle, operation, DISK_CALLS, when, flags);
  return DISK_CALLS.flatMap((call) => {
    // strace counts calls per thread: the main thread makes the journal's calls, another thread the
    // lock's.
    const threads = new Map<string, number>();
    const wanted = new Set<number>();
    for (const line of log.split('\n')) {
      const [, thread] = line.match(/^(\d+) /) ?? [];
      if (thread === undefined || !line.includes(` ${call}(`)) continue;
      const nth = (threads.get(thread) ?? 0) + 1;
      threads.set(thread, nth);
      // Counts only opens that create a file, since others leave the disk unchanged.
      if (call !== 'openat' || line.includes('O_CREAT')) wanted.add(nth);
    }
    return [...wanted].map((nth): Kill => ({ call, nth }));
  });
}

/** Returns the strace output of a run without a fault, in call order. */
export async function traceOf(
  bundle: string,
  operation: Scenario['operation'],
  calls: readonly string[],
  when: 'first' | 'later' = 'first',
  flags: readonly string[] = [],
): Promise<string> {
  const rig = await openRig(bundle);
  try {
    await rig.proxy.arm(NO_FAULT);
    if (when === 'later') await rig.gpucloud(argvFor(operation, 'before'));
    const file = join(rig.home, 'trace');
    const options = ['-f', '-qq', '-y', '-s', '200', '-o', file, '-e', `trace=${calls.join()}`];
    await run('strace', [...options, RUNNER, bundle, ...argvFor(operation, 'traced'), ...flags], {
      env: { ...rig.env, UV_THREADPOOL_SIZE: '1' },
      cwd: rig.home,
    });
    return await readFile(file, 'utf8');
  } finally {
    await rig.close();
  }
}
