import type { Instance } from '../../api/index.ts';
import type { Gate } from '../../concurrency.ts';
import { leavingOf } from '../../context/interrupts.ts';
import type { Context } from '../../context.ts';
import { CliError, failuresOf } from '../../errors.ts';
import { BRIEFLY } from '../../instances/read.ts';
import type { JobGpu, JobPhases, MemberReport } from '../../json-results/jobs.ts';
import { readCost } from '../../money/receipt.ts';
import { spanText } from '../../output/time.ts';
import { inRoubles, kopecksText, priceIn, sumOf } from '../../rules/money.ts';
import { poll } from '../../watch/poll.ts';
import { hasFailedSetup, type JobRecord } from '../record/record.ts';
import { within } from '../remote/within.ts';
import type { Driver } from '../state.ts';
import { gpuWords } from './gpu.ts';

/** Milliseconds to wait until the service shows the whole cost, and between two reads. */
const [WAIT, PAUSE] = [10_000, 2_000];

/**
 * Reads what a terminated instance cost, in roubles as a decimal; null if the service does not show
 * the whole cost in time. `reap` reads once, since other jobs wait.
 */
export async function costOf(
  instance: Pick<Instance, 'id' | 'created_at'> | undefined,
  by: Driver,
  context: Context,
  gate: Gate = (work) => work(),
): Promise<string | null> {
  if (instance === undefined) return null;
  const signal = by === 'reap' ? context.signal : leavingOf(context.interrupts);
  const late = () => new CliError('deadline', 'The service does not show the whole cost.');
  const found: string[] = [];
  const [fault] = await failuresOf(
    within({ time: WAIT, late, signal }, context.clock, (stop) =>
      context.shielded(async (own) => {
        const api = await own.api({ quiet: true });
        const read = () => gate(() => readCost(instance, api, { ...BRIEFLY, signal: stop }));
        const turns = poll({ read, interval: PAUSE, clock: own.clock, signal: stop });
        for await (const turn of turns) {
          const cost = 'value' in turn ? turn.value : 'open';
          if (typeof cost === 'object') found.push(kopecksText(cost));
          if (cost !== 'open' || by === 'reap') return;
        }
      }),
    ),
  );
  if (fault !== undefined && context.flags.debug === true) context.err.debug(fault.message);
  return found[0] ?? null;
}

/** Returns how long each phase of a job took. A phase that did not end has no length. */
export function phasesOf(record: JobRecord): JobPhases {
  const { on, sync, fetch, requested_at, signed_in_at, exited_at } = record;
  const { took, setup } = record;
  // The record's own times include the setup.
  const ran = setup === null ? secondsBetween(record.command_started_at, exited_at) : null;
  const fetched = fetch.map(({ fetched_at }) => fetched_at);
  const last = [...fetched, record.output_kept_at].reduce(later, exited_at);
  return {
    renting: on ? null : secondsBetween(requested_at, signed_in_at),
    copying: sync === null ? null : secondsBetween(signed_in_at, record.copied_at),
    setup: setup === null ? null : (took?.setup ?? null),
    running: hasFailedSetup(record) ? null : (took?.command ?? ran),
    fetching: fetch.length === 0 ? null : secondsBetween(exited_at, last),
  };
}

/** A missing time makes the end unknown. */
function later(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return null;
  return a > b ? a : b;
}

/** The computer's clock may have been set back. */
function secondsBetween(from: string | null, to: string | null): number | null {
  if (from === null || to === null) return null;
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
}

/** What the receipt shows of an instance. */
export type Member = Pick<
  MemberReport,
  'name' | 'terminated' | 'cost' | 'cost_at_most' | 'phases' | 'gpu'
>;

/**
 * Formats `It cost 0.35 ₽: 12 s renting, 3 min running.`, and for several instances `They cost 0.80
 * ₽: train-1 0.35 ₽, train-2 0.45 ₽.` Returns undefined if nothing is known.
 */
export function receiptText(members: readonly Member[]): string | undefined {
  const [first, ...others] = members;
  if (first === undefined) return undefined;
  if (others.length === 0) {
    const times = first.phases === null ? '' : phasesText(first.phases, first.gpu);
    const paid = costText([first]);
    if (paid === undefined) return times === '' ? undefined : `It took ${times}.`;
    return `It cost ${paid}${times === '' ? '' : `: ${times}`}.`;
  }
  const paid = costText(members);
  if (paid === undefined) return undefined;
  const each = members.map((member) => `${member.name} ${costText([member])}`).join(', ');
  return `They cost ${paid}${members.length > MOST_NAMED ? '' : `: ${each}`}.`;
}

/** The most instances of which the receipt shows each. */
const MOST_NAMED = 8;

/** Formats `0.35 ₽`, or `at most 90.25 ₽` if the cost of one is not known; undefined for nothing. */
function costText(members: readonly Member[]): string | undefined {
  const exact = sumOf(members.map(({ cost }) => priceIn(cost)));
  if (exact !== undefined) return inRoubles(exact);
  const most = sumOf(members.map(({ cost, cost_at_most }) => priceIn(cost ?? cost_at_most)));
  return most === undefined ? undefined : `at most ${inRoubles(most)}`;
}

/** Formats `12 s renting, 3 min running (GPU busy 12 % on average, …)`. */
export function phasesText(phases: JobPhases, gpu: JobGpu | null = null): string {
  return Object.entries(phases)
    .flatMap(([phase, seconds]) => {
      const use = phase === 'running' && gpu !== null ? ` (${gpuWords(gpu)})` : '';
      const isLong = seconds !== null && (seconds > 0 || use !== '');
      return isLong ? `${spanText(seconds)} ${phase}${use}` : [];
    })
    .join(', ');
}
