import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RUNNER } from '../support/program.ts';
import { NO_FAULT, POINTS } from './proxy.ts';
import { argvFor, type Kill, openRig, type Scenario } from './rig.ts';

const run = promisify(execFile);

/** The calls by which anything is put on a disk, a name is given, or anything is told. */
export const DISK_CALLS = ['mkdir', 'chmod', 'openat', 'fsync', 'rename', 'unlink'] as const;

/** Calls that the whole program makes all the time, for kills at random. */
export const ANY_CALLS = [...DISK_CALLS, 'write', 'read', 'close', 'futex', 'sendto'];

export const NETWORK_KILLS: readonly Kill[] = POINTS.filter((point) => point !== 'refused').map(
  (at) => ({ at }),
);

/** Points of the disk that a look into the folder finds, for where there is no strace. */
export const FILE_KILLS: readonly Kill[] = [
  /@keys\/.*\.json$/,
  /requests$/,
  /requests\/.*\.json$/,
  /instances\/.*\.tmp$/,
  /instances\/.*\.json$/,
].map((file) => ({ file }));

/**
 * One point before each call that puts anything on the disk, as a run of the program has them: the
 * first one on a computer, which makes all the folders, or a later one.
 */
export async function diskKills(
  bundle: string,
  operation: Scenario['operation'],
  when: 'first' | 'later',
): Promise<readonly Kill[]> {
  const log = await traceOf(bundle, operation, DISK_CALLS, when);
  return DISK_CALLS.flatMap((call) => {
    // strace counts the calls of each thread by itself: the journal's are made by the main one, the
    // lock's by another.
    const threads = new Map<string, number>();
    const wanted = new Set<number>();
    for (const line of log.split('\n')) {
      const [, thread] = line.match(/^(\d+) /) ?? [];
      if (thread === undefined || !line.includes(` ${call}(`)) continue;
      const nth = (threads.get(thread) ?? 0) + 1;
      threads.set(thread, nth);
      // Of the files that are opened, only new ones change anything.
      if (call !== 'openat' || line.includes('O_CREAT')) wanted.add(nth);
    }
    return [...wanted].map((nth): Kill => ({ call, nth }));
  });
}

/** What strace writes of one run without a fault, in the order of the calls. */
export async function traceOf(
  bundle: string,
  operation: Scenario['operation'],
  calls: readonly string[],
  when: 'first' | 'later' = 'first',
): Promise<string> {
  const rig = await openRig(bundle);
  try {
    await rig.proxy.arm(NO_FAULT);
    if (when === 'later') await rig.gpucloud(argvFor(operation, 'before'));
    const file = join(rig.home, 'trace');
    const options = ['-f', '-qq', '-y', '-s', '200', '-o', file, '-e', `trace=${calls.join()}`];
    await run('strace', [...options, RUNNER, bundle, ...argvFor(operation, 'traced')], {
      env: { ...rig.env, UV_THREADPOOL_SIZE: '1' },
      cwd: rig.home,
    });
    return await readFile(file, 'utf8');
  } finally {
    await rig.close();
  }
}
