import { hasEnded } from '../context/session.ts';
import type { Context } from '../context.ts';
import { asCliError, ensureCliError, failuresOf, isInterrupt } from '../errors.ts';
import { readEnforcement } from '../instances/deadlines/armed.ts';
import { shellLine } from '../output/shell-line.ts';
import { clamp } from '../output/width.ts';
import type { Steps } from './drive.ts';
import { endedElsewhere, endJob, saveEnd } from './end/end-job.ts';
import { failedOf } from './files/copy-out-each.ts';
import type { Job } from './job.ts';
import { createJobOutput } from './output.ts';
import { note, timeNow } from './record/note.ts';
import {
  copiedBack,
  happenedIn,
  hasFailedSetup,
  isShown,
  readEnded,
  receivedPaths,
} from './record/record.ts';
import { observed, probe, type SignedIn } from './remote/probe.ts';
import type { RemoteShell } from './remote/remote-shell.ts';
import { exitOf, WROTE, WROTE_NOTHING } from './remote/supervisor.ts';
import { collect } from './stages/collect.ts';
import { connect } from './stages/connect.ts';
import { fetchEvery } from './stages/fetch-every.ts';
import { Ended, followToEnd, instanceNow, interruptCommand } from './stages/follow-to-end.ts';
import { keep } from './stages/keep.ts';
import { receiveOutput } from './stages/receive.ts';
import { repeated } from './stages/repeated.ts';
import { start } from './stages/start.ts';
import { PATIENCE, stopCommand } from './stages/stop-command.ts';
import type { Observation, Situation } from './state.ts';
import { look } from './verbs/look.ts';

export interface HowToDrive {
  /** `jobs stop --no-fetch`. */
  readonly skipsResults?: boolean;
  /** Changes some steps. */
  around?(steps: Steps): Steps;
  /** For `reap`: how long the instance has until its deadline. */
  readonly time?: Situation['time'];
  /** For `reap`: reports a lost command. */
  reportLost?(): Promise<void>;
}

/** Milliseconds for one look of `reap` over SSH. */
const REAP = 20_000;
/** Milliseconds between two attempts to copy the results of a kept instance, and between looks. */
const [STAY, SLICE] = [60_000, 1_000];
/** Milliseconds in which a command that fails has written few results. */
const SOON = 5 * 60_000;
/** Milliseconds between two looks of `reap` at a command, before and after SIGINT. */
const [BEFORE, AFTER] = [10_000, 2_000];

/** What each driver can do to a job. Each step stores what happened. */
export function stepsOf(job: Job, how: HowToDrive, context: Context): Steps {
  const { stops, phases, by } = job;
  const { interrupts, clock, err } = context;
  const plain = createJobOutput(context, stops.last);
  const outputOf = () => job.received?.output ?? plain;
  const { near, half, past, last } = stops;
  const events = [interrupts.first, interrupts.second, near, half, past, last];
  let known: readonly AbortSignal[] = [];
  let hasFollowed = false;
  let isNearDeadline = false;
  /** Aborts at the next change of the situation since the driver last read it. */
  const change = () => AbortSignal.any(events.filter((event) => !known.includes(event)));
  const saw = (seen: Observation) => {
    job.seen = seen;
    return seen;
  };
  const there = (): SignedIn => {
    if (job.there === undefined) throw new Error('no connection to the instance');
    return job.there;
  };
  /** What can't be read arms nothing. */
  async function isArmed(): Promise<boolean> {
    try {
      return await context.shielded(async (own) => {
        const account = await (await own.journal()).account();
        return (await readEnforcement({ account }, own)).job.isArmed;
      });
    } catch (error) {
      ensureCliError(error);
      return false;
    }
  }

  function timeOf(): Situation['time'] {
    if (how.time === 'past' || past.aborted) return 'past';
    if (stops.half.aborted) return 'half';
    return stops.near.aborted ? 'near' : (how.time ?? 'early');
  }

  async function lookNow(): Promise<Observation> {
    const wasPast = past.aborted;
    try {
      if (by === 'attach' && !wasPast) job.there = await connect(job, context);
      else {
        const time = by === 'reap' ? REAP : undefined;
        const seen = await look(job.record, job.how, context, time);
        job.instance = seen.instance;
        if (seen.isOver) throw new Ended(job.record, seen.instance);
        job.there = seen;
        // The last chance to learn of the cards if nothing is copied, as with --no-fetch.
        await note(job, { home: seen.home, ...(seen.gpu && { gpu: seen.gpu }) }, context);
      }
      return observed(job.there);
    } catch (error) {
      // The deadline, which had already passed, ended the connecting. One short look is still allowed.
      if (past.aborted && !wasPast && !last.aborted) return lookNow();
      return unseen(error);
    }
  }

  async function unseen(error: unknown): Promise<Observation> {
    const fault = asCliError(error);
    job.failure ??= fault;
    if (by === 'reap' && isInterrupt(fault)) throw fault;
    if (by === 'reap' && context.flags.debug === true) err.debug(fault.message);
    if (error instanceof Ended) return { kind: 'gone', isOver: error.isOver };
    if (isInterrupt(error)) return { kind: 'unreachable' };
    const instance = await instanceNow(job.record.id, context);
    if (instance === undefined) return { kind: 'unreachable' };
    job.instance = instance;
    const ended = new Ended(job.record, instance);
    if (!ended.isOver && instance.status !== 'ERROR') return { kind: 'unreachable' };
    job.failure = ended;
    return { kind: 'gone', isOver: ended.isOver };
  }

  async function noteExit(seen: Observation): Promise<void> {
    if (seen.kind !== 'exited' || job.record.exit_code !== null) return;
    // Only an instance runs a setup. On Windows, a command here may exit with any large code.
    const exit = job.record.here
      ? { exit_code: seen.code, setup_exit_code: null }
      : exitOf(seen.code);
    const reason =
      isNearDeadline && !hasFailedSetup(exit)
        ? `The command was interrupted near ${job.record.name}'s deadline.`
        : null;
    await note(job, { ...exit, exited_at: timeNow(context), reason }, context);
  }

  /** Follows the command for `reap`, which prints nothing. */
  async function poll(changed: AbortSignal): Promise<Observation> {
    for (;;) {
      const found = await probe(there().shell, stops.last);
      if (typeof found !== 'string' && found.state !== 'running') return observed(found);
      await clock.sleep(job.isInterrupted ? AFTER : BEFORE, changed);
    }
  }

  async function follow(changed: AbortSignal): Promise<Observation> {
    if (by === 'reap') return poll(changed);
    const { shell } = there();
    if (phases.current !== 'running') {
      phases.begin('running', clamp(shellLine(job.record.command, 'linux'), 50));
    }
    job.received ??= await receiveOutput(job, () => there().shell, context);
    const { received } = job;
    const endFetching = fetchEvery(job, shell, received.output, context);
    try {
      const code = await followToEnd(job, shell, received, changed, context);
      return code === undefined ? { kind: 'lost' } : { kind: 'exited', code };
    } finally {
      await endFetching();
    }
  }

  /** Kills a setup that goes on although the deadline is near: it has no results to copy. */
  async function killSetup(seen: Observation): Promise<Observation> {
    const { shell } = there();
    const found = await probe(shell, stops.last);
    if (typeof found === 'string' || !found.isSetup) return seen;
    job.isInterrupted = true;
    await stopCommand(job.record, shell, context, 0);
    const after = await probe(shell, stops.last);
    return typeof after === 'string' ? seen : saw(observed(after));
  }

  return {
    async happened() {
      const happened = { ...happenedIn(job.record), stopRequested: job.isStopAsked() };
      const done = await readEnded(job.record.uid, context);
      return done === undefined ? happened : { ...happened, ended: true };
    },

    async situation() {
      const armed = await isArmed();
      const { keep_on_failure: kept } = job.record;
      known = events.filter(({ aborted }) => aborted);
      return {
        time: timeOf(),
        isLastTry: by === 'reap' || !last.aborted,
        interrupt: interruptOf(context),
        isArmed: armed,
        skipsResults: how.skipsResults === true,
        keepsOnFailure: (kept ?? 0) > 0,
        // The end of a session terminates the instance.
        keepsForResults: kept !== 0 && !hasEnded(context.host.session),
      };
    },

    async look() {
      const seen = await lookNow();
      const isThere = seen.kind === 'running' || seen.kind === 'exited' || seen.kind === 'lost';
      if (isThere && !isShown(job.record)) await note(job, { shown_at: timeNow(context) }, context);
      return saw(seen);
    },

    async start() {
      const failed = await start(job, context);
      if (failed === 'none') saw({ kind: 'running' });
      return failed;
    },

    async follow() {
      const changed = change();
      try {
        const seen = await follow(changed);
        hasFollowed = true;
        job.failure = undefined;
        return { seen: saw(seen), failed: 'none' };
      } catch (error) {
        if (changed.aborted) return { seen: saw({ kind: 'running' }), failed: 'none' };
        job.failure = asCliError(error);
        return { seen: saw(await unseen(error)), failed: 'follow' };
      }
    },

    async interrupt() {
      if (by === 'reap') {
        const near = AbortSignal.any([stops.near, stops.last]);
        const stopped = await failuresOf(poll(near));
        if (stopped.length === 0 || stops.last.aborted) return;
      }
      job.isInterrupted = true;
      isNearDeadline = timeOf() !== 'early';
      phases.clear();
      // Following has ended the line of an echoed ^C.
      outputOf().endLine();
      const { name, on } = job.record;
      const back = copiedBack(job.record);
      if (stops.near.aborted && by !== 'reap') {
        err.warn(
          'deadline_near',
          `Interrupting the command to fetch its ${back} before ${name}'s deadline.`,
        );
      } else if (by !== 'reap') {
        const ends = on ? 'leaves' : 'terminates';
        // An agent has no second Ctrl-C.
        const next =
          context.host.session === undefined
            ? `Ctrl-C again ${ends} ${name} without copying its ${back}.`
            : `Its ${back} will be copied next.`;
        err.note(`Interrupting the command. ${next}`);
      }
      interruptInBackground(job, there().shell, context);
    },

    async stop() {
      job.isInterrupted = true;
      try {
        await stopCommand(job.record, there().shell, context);
        return 'none';
      } catch (error) {
        job.failure = asCliError(error);
        return 'stop';
      }
    },

    async collect(first) {
      let seen = first;
      await noteExit(seen);
      try {
        if (seen.kind === 'running' && job.record.setup !== null) {
          seen = await killSetup(seen);
          await noteExit(seen);
        }
        // Prints the rest of the output of a command that exited without this process.
        const isToPrint =
          by === 'attach' && !hasFollowed && !job.record.here && seen.kind !== 'running';
        if (isToPrint) await follow(stops.last);
        hasFollowed = true;
        const out = by === 'reap' ? undefined : outputOf();
        await collect(job, there().shell, out, seen.kind !== 'running', context);
        job.failure = plain.lost;
        return 'none';
      } catch (error) {
        job.failure = asCliError(error);
        const failed = failedOf(job.failure);
        const uncopied = { why: job.failure.message, isMissing: failed === 'missing' };
        await note(job, { uncopied }, context);
        const isAsked = by === 'stop';
        const isSoon = seen.kind === 'exited' && hasFailedSoon(job.record);
        const isUnsure = failed === 'missing' && (isAsked || isSoon);
        return isUnsure && (await hasNothing(seen, job, there().shell)) ? 'nothing' : failed;
      }
    },

    async keep(why) {
      const isEmpty = job.seen.kind === 'absent' && !job.record.here;
      const leaves = by !== 'run' && by !== 'detach';
      const isMissing = job.failure?.failure === 'notFound';
      const armed = await isArmed();
      const waits = !armed && by !== 'reap';
      const how = { why, isEmpty, isMissing, isArmed: armed, waits, leaves };
      await keep(job.record, how, context);
      await note(job, { kept: why }, context);
    },

    async stay() {
      const changed = change();
      const until = clock.monotonic() + STAY;
      while (clock.monotonic() < until && !changed.aborted && !job.isStopAsked()) {
        // An event ends the wait.
        await clock.sleep(SLICE, changed).catch(() => undefined);
      }
    },

    async end(seen) {
      await noteExit(seen);
      if (seen.kind === 'lost' && job.record.lost_at === null) {
        await note(job, { lost_at: timeNow(context) }, context);
      }
      // The start was stored, but never reached the instance.
      if (seen.kind === 'absent' && !isShown(job.record)) {
        await note(job, { command_started_at: null }, context);
      }
      if (how.skipsResults === true) {
        // Results that the user gave up are not missing.
        await note(job, { fetch: receivedPaths(job.record) }, context);
      }
      // A deadline that passes while this terminates changes nothing.
      stops.close();
      const end = await endJob(job, { isAtDeadline: timeOf() !== 'early' }, context);
      await saveEnd(job, end, context);
    },

    async report() {
      await saveEnd(job, await endedElsewhere(job, context), context);
    },

    async reportLost() {
      await how.reportLost?.();
    },
  };
}

function interruptOf({ interrupts: { first, second } }: Context): Situation['interrupt'] {
  const { reason }: { reason?: unknown } = second.aborted ? second : first;
  if (!first.aborted && !second.aborted) return 'none';
  const { failure } = asCliError(reason);
  if (failure === 'hungUp') return 'hangUp';
  return second.aborted || failure !== 'interrupted' ? 'last' : 'first';
}

/**
 * Whether a command failed so soon that running it again costs less than keeping its instance: it may
 * have written results elsewhere on the instance.
 */
function hasFailedSoon({ here, exit_code, took }: Job['record']) {
  if (here || exit_code === 0) return false;
  // By its own clock: this computer may have learned of the exit much later.
  return took !== undefined && took.command * 1000 < SOON;
}

/**
 * Whether the command's folder is gone, or a command that did not succeed has written nothing there,
 * so that no result can be there under another name. Returns false if a missing path is outside that
 * folder, or if that is unknown.
 */
async function hasNothing(
  seen: Observation,
  { record, stops, isInterrupted }: Job,
  shell: RemoteShell,
): Promise<boolean> {
  if (seen.kind === 'absent') return true;
  if (record.exit_code === 0 && !isInterrupted) return false;
  const missing = record.fetch.filter(({ fetched_at }) => fetched_at == null);
  if (missing.some(({ remote }) => /^\/|^~|\.\./.test(remote))) return false;
  try {
    const { stdout } = await shell.run(WROTE, stops.last);
    return stdout.split('\n').includes(WROTE_NOTHING);
  } catch (error) {
    ensureCliError(error);
    return false;
  }
}

/**
 * Repeats the interrupt over cut connections, while the output is followed. At the end of a session,
 * when nobody may be there for a second interrupt, stops a command that ignores it.
 */
function interruptInBackground({ record, stops }: Job, shell: RemoteShell, context: Context): void {
  const { clock, err, host } = context;
  const { last } = stops;
  // As long as before a deadline: the command may save its state.
  const patience = Math.max(PATIENCE, Math.round(record.grace / 2000));
  const work = hasEnded(host.session)
    ? context.shielded((own) => stopCommand(record, shell, own, patience), last)
    : repeated(() => interruptCommand(shell, last), last, clock);
  work.catch((error: unknown) => {
    if (last.aborted) return;
    const { message } = asCliError(error);
    err.warn('connection', message);
  });
}
