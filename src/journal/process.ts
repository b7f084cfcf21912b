import { readFileSync, readlinkSync } from 'node:fs';
import type { ProcessMark } from './record.ts';

/**
 * Milliseconds after which a request counts as lost though its process is there: that may stand
 * still (SIGSTOP, a container that was frozen), and nobody may ever continue it.
 */
const LONGEST_REQUEST = 3_600_000;

/** Tells a process apart from later ones of the same pid, as far as the system says. */
export function markOf(pid: number): ProcessMark {
  const boot = textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const stat = textOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const space = textOf(() => readlinkSync('/proc/self/ns/pid'));
  // proc(5): the name of the program stands in brackets and may hold anything; `starttime` is the
  // 22nd field, so the 20th after the brackets.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  // A zombie has ended, though nobody has asked how: it writes no outcome any more.
  const started = fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : fields[19];
  return {
    pid,
    ...(boot === undefined ? {} : { boot: boot.trim() }),
    ...(started === undefined ? {} : { started }),
    ...(space === undefined ? {} : { space }),
  };
}

/**
 * Whether the process that sent a request still runs, so that its outcome is under way and not
 * lost. What can't be judged from here (another computer, another container) counts as gone.
 */
export function isRunning(
  mark: ProcessMark | null,
  age: number,
  isAlive: (pid: number) => boolean,
): boolean {
  if (mark === null || age >= LONGEST_REQUEST || !isAlive(mark.pid)) {
    return false;
  }
  const now = markOf(mark.pid);
  if (mark.boot === undefined || now.boot === undefined) {
    // Where only a pid is known, it may have been given out again.
    return mark.boot === now.boot && age >= 0;
  }
  return mark.boot === now.boot && mark.space === now.space && mark.started === now.started;
}

function textOf(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
