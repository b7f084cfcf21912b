import type { Context } from '../../context.ts';
import { failuresOf } from '../../errors.ts';
import type { ReapPlan } from '../../json-results/instances.ts';
import { isFollowed } from '../record/lock.ts';
import { happenedIn, isRented, type JobRecord, type RentedRecord } from '../record/record.ts';
import { next, type Observation, type Situation, type Step, stateOf } from '../state.ts';
import { timeOf } from './finish.ts';
import { look, observationOf, type Seen } from './look.ts';
import { sameSignIn } from './sign-in-of.ts';

/** Milliseconds to look at one job. */
const LOOK = 20_000;

type Foreseen = Pick<ReapPlan, 'action' | 'why'>;

/** The instance has ended, so that a pass only reports its job. */
export const ENDED: Foreseen = { action: 'nothing', why: 'it has already ended' };

/** Returns what `reap` would do to an open job, by its own rules. Changes nothing. */
export async function foreseeJob(
  record: JobRecord,
  every: number,
  context: Context,
): Promise<Foreseen> {
  if (!isRented(record)) return { action: 'nothing', why: 'the outcome of its request is unknown' };
  if (await isFollowed(record, context)) {
    return { action: 'nothing', why: 'another gpucloud process follows its job' };
  }
  const happened = { ...happenedIn(record), stopRequested: false };
  const seen: Observation = happened.started ? await lookAt(record, context) : { kind: 'absent' };
  const { time } = await timeOf(record, every, context);
  const state = stateOf(happened, seen);
  if (state.kind === 'gone') return ENDED;
  const step = next(happened, state, 'reap', {
    time,
    isLastTry: true,
    interrupt: 'none',
    isArmed: true,
    isInterrupted: false,
    isCopied: false,
    skipsResults: false,
    keepsOnFailure: (record.keep_on_failure ?? 0) > 0,
    keepsForResults: record.keep_on_failure !== 0,
    isKept: false,
    failed: 'none',
  });
  if (step === 'leave' && record.kept !== null) return { action: 'keep', why: 'its job kept it' };
  const isUncopied = state.kind === 'exited' && !state.isReachable && !happened.collected;
  const kind = isUncopied ? 'unreachable' : state.kind;
  const action = actionOf(step, kind);
  const isEnd = action === 'finish_job' || action === 'terminate';
  const why = kind === 'unreachable' ? await unreachedText(record, context) : WHY[kind];
  return { action, why: isEnd && isOpen(kind) ? `${WHEN[time]}, and ${why}` : why };
}

async function unreachedText({ id }: RentedRecord, context: Context): Promise<string> {
  // The look has just read the instance.
  const { instances } = await (await context.journal()).read();
  const last = instances.find((one) => one.id === id)?.last;
  return last?.status === 'STOPPED' ? 'it is STOPPED' : WHY.unreachable;
}

/** Whether only the deadline ends a job in this state, or an end that has begun. */
function isOpen(state: keyof typeof WHY): boolean {
  return state === 'running' || state === 'unreachable' || state === 'lost';
}

function actionOf(step: Step, state: keyof typeof WHY): Foreseen['action'] {
  if (step === 'leave') return state === 'lost' ? 'keep' : 'nothing';
  if (step === 'reportLost' || step === 'keep') return 'keep';
  // Nothing is copied.
  return state === 'unreachable' ? 'terminate' : 'finish_job';
}

const WHEN: Readonly<Record<Situation['time'], string>> = {
  early: 'gpucloud has already tried to terminate it',
  near: 'its deadline is near',
  half: 'its deadline is near',
  past: 'its deadline has passed',
};

const WHY = {
  preparing: 'its command was never started',
  running: 'its command still runs',
  exited: 'its command has exited',
  lost: 'its command has disappeared',
  unreachable: 'its job does not respond',
  ended: 'its job has ended',
} as const;

async function lookAt(record: RentedRecord, context: Context): Promise<Observation> {
  const seen: Seen[] = [];
  const work = look(record, sameSignIn(record), context, LOOK).then((one) => seen.push(one));
  await failuresOf(work);
  context.signal.throwIfAborted();
  return observationOf(seen[0]);
}
