/** What one look at a job's instance showed. */
export type Observation =
  /** The instance has no trace of the job. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'running' }
  | { readonly kind: 'exited'; readonly code: number }
  /** The supervisor is gone and left no exit code, for example after a restart. */
  | { readonly kind: 'lost' }
  /** The instance may run, but does not respond now. */
  | { readonly kind: 'unreachable' }
  /** Terminated or TERMINATING (`isOver`), or in ERROR without SSH. */
  | { readonly kind: 'gone'; readonly isOver: boolean };

/** The part of a job's record that decides what to do next. */
export interface Happened {
  /** The instance existed before the job, and outlives it. */
  readonly on: boolean;
  /** The command runs on the computer of `run --here`, so no other driver starts it. */
  readonly here: boolean;
  /**
   * Whether a driver has begun to start the command. Stored before the start, since a command must
   * never start twice: a start whose response was lost counts too.
   */
  readonly started: boolean;
  /** Whether the instance has shown that the command was started. */
  readonly shown: boolean;
  /** null until the exit code is known. */
  readonly exit_code: number | null;
  /** Whether all results and the whole output are on this computer. */
  readonly collected: boolean;
  /** Whether the loss of the command was reported. */
  readonly lostReported: boolean;
  /** Why the instance was kept after the command. */
  readonly kept: 'command' | 'results' | null;
  /** Whether `jobs stop` has asked this driver to stop. */
  readonly stopRequested: boolean;
  /** Whether a driver has begun the end: the results are here, or were given up. */
  readonly ending: boolean;
  readonly ended: boolean;
}

export type JobState =
  | { readonly kind: 'preparing' }
  | { readonly kind: 'running' }
  | { readonly kind: 'exited'; readonly code: number; readonly isReachable: boolean }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'gone'; readonly isOver: boolean }
  | { readonly kind: 'ended' };

/**
 * Combines what the record says with what one look showed. The record says first whether a command
 * was started, so that an empty instance never means "not started yet". An exit code never changes.
 * If the instance has never shown the command, and has no trace of it, nothing of the job is there.
 */
export function stateOf(job: Happened, seen: Observation): JobState {
  if (job.ended) return { kind: 'ended' };
  if (seen.kind === 'gone') return seen;
  if (!job.started || (!job.shown && seen.kind === 'absent')) return { kind: 'preparing' };
  const code = job.exit_code ?? (seen.kind === 'exited' ? seen.code : null);
  if (code !== null) return { kind: 'exited', code, isReachable: seen.kind !== 'unreachable' };
  if (seen.kind === 'running' || seen.kind === 'unreachable') return { kind: seen.kind };
  return { kind: 'lost' };
}

/** A process that moves a job on. `detach` is a `run` that exits once the command has started. */
export type Driver = 'run' | 'detach' | 'attach' | 'stop' | 'reap';

/** What a driver knows beside the record and its look. */
export interface Situation {
  /**
   * By the instance's deadline: `near` leaves time to interrupt the command, and `half` only to
   * copy what exists. Without a deadline, `early`.
   */
  readonly time: 'early' | 'near' | 'half' | 'past';
  /** Whether results may be copied after the deadline, since this computer slept past it. */
  readonly isLastTry: boolean;
  /** Interrupts of this process. `first` is one Ctrl-C, `last` a second one or SIGTERM. */
  readonly interrupt: 'none' | 'first' | 'last' | 'hangUp';
  /** Whether a scheduled `reap` ends the instance if this process does not. */
  readonly isArmed: boolean;
  /** Whether this driver has interrupted the command. */
  readonly isInterrupted: boolean;
  /** Whether this driver has copied the results of a command that still runs. */
  readonly isCopied: boolean;
  /** `jobs stop --no-fetch`. */
  readonly skipsResults: boolean;
  /** `--keep-on-failure`: keep the instance after a failed command. */
  readonly keepsOnFailure: boolean;
  /** Whether to keep the instance for results that could not be copied. */
  readonly keepsForResults: boolean;
  /** Whether this driver has kept the instance. */
  readonly isKept: boolean;
  /**
   * The last step of this driver that failed for good: `start` (connecting, copying in, starting),
   * `follow`, `stop`, or a copy of the results. Its cause is `missing` on the instance, `nothing` if
   * a command that was stopped or soon failed has written nothing there, `here` on this computer, or `cut` by the connection.
   */
  readonly failed: 'none' | 'start' | 'follow' | 'stop' | 'missing' | 'nothing' | 'here' | 'cut';
}

export type Step =
  /** Copy in and start the command. */
  | 'start'
  /** Follow the output until the command is over or the situation changes. */
  | 'follow'
  /** Interrupt the command with SIGINT. */
  | 'interrupt'
  /** Stop the command with SIGINT, SIGTERM and SIGKILL. */
  | 'stop'
  /** Copy the results and the output that are not on this computer yet. */
  | 'collect'
  /** Set a deadline for the instance, and keep it until then. */
  | 'keep'
  /** Wait beside a kept instance that no other process would end, then try again. */
  | 'stay'
  /** Terminate the instance, unless it existed before the job, and report. */
  | 'end'
  /** Report a job whose instance has ended. */
  | 'report'
  /** Report once that the command disappeared, and leave the instance to its deadline. */
  | 'reportLost'
  /** Let `jobs stop` take over, and report how it ends the job. */
  | 'handOver'
  | 'leave';

/**
 * Returns the next step of a driver. Every driver asks here, so that all agree on when a command
 * may start, when its results are safe, and when its instance ends.
 */
export function next(job: Happened, state: JobState, driver: Driver, now: Situation): Step {
  const step = stepOf(job, state, driver, now);
  return job.on ? onExisting(step, job, state, now) : step;
}

function stepOf(job: Happened, state: JobState, driver: Driver, now: Situation): Step {
  // Nothing is copied after an end whose outcome was uncertain: the user may have edited the files.
  if (job.ending && state.kind !== 'ended' && state.kind !== 'gone') return 'end';
  switch (state.kind) {
    case 'ended':
      return 'leave';
    case 'gone':
      if (state.isOver) return 'report';
      // An instance in ERROR may respond again.
      return driver === 'reap' && now.time !== 'past' && !job.ending ? 'leave' : 'end';
    case 'preparing':
      return ofPreparing(job, driver, now);
    case 'running':
      return ofRunning(driver, now);
    case 'unreachable':
      return ofUnreachable(driver, now);
    case 'exited':
      // A person may still inspect a kept instance.
      if (!state.isReachable && (!job.collected || (driver === 'attach' && job.kept !== null))) {
        return ofUnreachable(driver, now);
      }
      return ofOver(job, state.code !== 0, driver, now);
    case 'lost':
      if (driver === 'reap' && isBefore('near', now)) {
        return job.lostReported ? 'leave' : 'reportLost';
      }
      return ofOver(job, true, driver, now);
  }
}

const TIMES = ['early', 'near', 'half', 'past'] as const;

function isBefore(time: Situation['time'], now: Situation): boolean {
  return TIMES.indexOf(now.time) < TIMES.indexOf(time);
}

/** Nothing runs on the instance, so its end loses nothing. */
function ofPreparing(job: Happened, driver: Driver, now: Situation): Step {
  const isOwner = driver === 'run' || driver === 'detach';
  if (!isOwner && now.interrupt !== 'none') return 'leave';
  // A start that was stored may have left this computer, so the command is not started again.
  const starts = !job.started && (isOwner || (driver === 'attach' && !job.here));
  const isStopped = job.stopRequested || now.interrupt !== 'none' || now.failed === 'start';
  return starts && !isStopped && isBefore('near', now) ? 'start' : 'end';
}

function ofRunning(driver: Driver, now: Situation): Step {
  if (driver === 'detach') return 'leave';
  if (driver === 'run') {
    if (now.interrupt === 'last') return 'end';
    if (now.interrupt === 'hangUp') return now.isArmed ? 'leave' : 'end';
  } else if (now.interrupt !== 'none') return 'leave';
  if (driver === 'stop') return now.failed === 'none' ? 'stop' : 'leave';
  if (driver === 'reap' && isBefore('near', now)) return 'leave';
  if (now.time === 'past' && !now.isLastTry) return 'end';
  // The command ignores SIGINT, so copy what exists.
  if (!isBefore('half', now)) return now.isCopied || now.failed !== 'none' ? 'end' : 'collect';
  return isDue(now) ? 'interrupt' : 'follow';
}

/** Whether the command is to be interrupted now. */
function isDue({ time, interrupt, isInterrupted }: Situation): boolean {
  return (time === 'near' || interrupt === 'first') && !isInterrupted;
}

/** `run` tries again until the deadline. Other drivers leave the job to it. */
function ofUnreachable(driver: Driver, now: Situation): Step {
  if (now.time === 'past') return 'end';
  if (driver !== 'run') return 'leave';
  if (now.failed === 'follow') return 'end';
  if (now.interrupt === 'hangUp') return now.isArmed ? 'leave' : 'end';
  if (now.interrupt === 'last') return 'end';
  // The command may run although nothing shows it, as after Ctrl-C during its start.
  return isDue(now) ? 'interrupt' : 'follow';
}

/** The command is over: copy its results, then end or keep the instance. */
function ofOver(job: Happened, isFailure: boolean, driver: Driver, now: Situation): Step {
  const isOwner = driver === 'run' || driver === 'detach';
  if (!isOwner && now.interrupt !== 'none') return 'leave';
  if (now.interrupt === 'hangUp' && now.isArmed) return 'leave';
  const isKeeper = isOwner || driver === 'reap' || now.isKept;
  if (job.kept === 'command' && isKeeper) return ofKept(job, driver, now);
  if (job.collected || now.skipsResults) {
    const isWanted = isFailure && now.keepsOnFailure && job.kept === null && driver !== 'stop';
    return isWanted && now.interrupt === 'none' && now.time !== 'past' ? 'keep' : 'end';
  }
  if (now.interrupt === 'last' || now.interrupt === 'hangUp') return 'end';
  const isTried = isMissing(now) || now.failed === 'here' || now.failed === 'cut';
  if (!isTried) {
    return now.time === 'past' && !now.isLastTry ? 'end' : 'collect';
  }
  if (driver === 'stop' && isMissing(now)) return ofStopped(job, isFailure, now);
  const isEmpty = now.failed === 'nothing' && isFailure && !now.keepsOnFailure;
  if (isEmpty && job.kept === null) return 'end';
  if (job.kept !== null || now.time === 'past' || now.interrupt !== 'none')
    return ofKept(job, driver, now);
  // Before the next pass, this computer and the connection may change, but no missing path appears.
  if (driver === 'reap' && !isMissing(now)) return 'leave';
  return now.keepsForResults ? 'keep' : 'end';
}

function isMissing({ failed }: Situation): boolean {
  return failed === 'missing' || failed === 'nothing';
}

/**
 * A missing path never appears, and `jobs stop` requests the end. But if the command has written
 * something, the path may be wrong. A command of `--here` may have written on other instances.
 */
function ofStopped(job: Happened, isFailure: boolean, now: Situation): Step {
  const isHere = job.here && (isFailure || now.isInterrupted);
  const isLost = now.failed === 'missing' && !isHere && !job.on;
  if (!isLost || !now.keepsForResults || now.time === 'past') return 'end';
  // Without a schedule, nothing would end the instance at an earlier deadline.
  return job.kept === null && now.isArmed ? 'keep' : 'leave';
}

/**
 * A kept instance ends at its deadline, by `reap` or else by this process. But who attaches to it with
 * another wrong path learns of it at once.
 */
function ofKept(job: Happened, driver: Driver, now: Situation): Step {
  if (job.stopRequested) return 'handOver';
  if (now.time === 'past' || now.interrupt !== 'none') return 'end';
  const isWrong = driver === 'attach' && !now.isKept && isMissing(now);
  return driver === 'reap' || now.isArmed || isWrong ? 'leave' : 'stay';
}

/** Never ends an instance that existed before. The job ends once nothing of it is left to copy. */
function onExisting(step: Step, job: Happened, state: JobState, now: Situation): Step {
  // A path that is missing after the command does not appear later.
  const isLeft = !job.collected && !isMissing(now);
  if (step === 'keep') return isLeft ? 'leave' : 'end';
  if (step !== 'end') return step;
  const isDone =
    state.kind === 'preparing' ||
    state.kind === 'gone' ||
    !isLeft ||
    job.ending ||
    now.skipsResults;
  return isDone ? 'end' : 'leave';
}
