import type { Instance } from '../api/index.ts';
import { eachBounded, SSH_AT_ONCE } from '../concurrency.ts';
import type { Context } from '../context.ts';
import { CliError, ensureCliError, isInterrupt } from '../errors.ts';
import { idleTime } from '../instances/deadlines/idle-time.ts';
import { isReadNow, readKnownInstances } from '../instances/known-instances.ts';
import { instanceIn, readInstance } from '../instances/read.ts';
import type { Target } from '../instances/resolve.ts';
import type { IdleTime, TopRow } from '../json-results/instances.ts';
import { hasSsh } from '../rules/statuses.ts';
import type { FindSignIn } from '../ssh/sign-in.ts';
import { readSample, withinLimit } from './read-sample.ts';
import { type CpuTime, partValue, type Sample } from './sample.ts';

/** Timeout for one instance, in milliseconds. */
const LIMIT = 5_000;

export interface Top {
  readonly rows: readonly TopRow[];
  /** Why some instances could not be read; one fault per row with an error. */
  readonly faults: readonly CliError[];
}

interface Wanted {
  readonly target: Target;
  /** The instance, if it was just read. */
  readonly known?: Instance;
  /** Returns how long the instance has been idle, once the service's time is known. */
  idle(): IdleTime;
}

/**
 * Reads the use of the named instances, or of all running instances. A hanging instance does not
 * delay the others.
 */
export async function readTop(
  typed: readonly Target[],
  find: FindSignIn,
  context: Context,
): Promise<Top> {
  const { serviceClock } = context;
  const api = await context.api();
  const faults: CliError[] = [];
  const wanted: readonly Wanted[] =
    typed.length > 0
      ? typed.map((target) => ({ target, idle: () => idleTime(target.idle, serviceClock.now()) }))
      : await running(context);
  const rows = await eachBounded(wanted, SSH_AT_ONCE, async ({ target, known, idle }) => {
    let instance = known;
    const name = () => instance?.name ?? target.name;
    try {
      const sample = await withinLimit(LIMIT, name, context, async (signal) => {
        instance ??= instanceIn(await readInstance(target.id, api, { signal }));
        return readSample(instance, 1, { find, signal }, context);
      });
      return { ...rowOf(target, instance, sample, faults), ...secondsOf(idle()) };
    } catch (error) {
      ensureCliError(error);
      if (isInterrupt(error)) throw error;
      faults.push(error);
      return { ...rowOf(target, instance, undefined, [], error), ...secondsOf(idle()) };
    }
  });
  return { rows, faults };
}

/** Returns the instances known to this computer that have SSH now. */
async function running(context: Context): Promise<Wanted[]> {
  const api = await context.api();
  const how = { all: false, drives: api.drives.list(), now: context.clock.now() };
  const { rows, faults, driveFault } = await readKnownInstances(how, api, context);
  for (const { message } of [...faults, ...(driveFault ? [driveFault] : [])]) {
    context.err.warn('incomplete', message);
  }
  return rows
    .filter(isReadNow)
    .filter(({ status }) => hasSsh(status))
    .map((row) => ({ target: { id: row.id, name: row.name }, known: row, idle: () => row }));
}

function rowOf(
  { id, name }: Target,
  instance: Instance | undefined,
  sample: Sample | undefined,
  faults: CliError[],
  error?: CliError,
): TopRow {
  const memory = sample === undefined ? null : partValue(sample.memory);
  const cards = sample === undefined ? null : partValue(sample.cards);
  const noCards = sample !== undefined && 'fault' in sample.cards ? sample.cards.fault : undefined;
  const shown = instance?.name ?? name;
  const fault =
    error ??
    (noCards === undefined
      ? undefined
      : new CliError('notUnderstood', `Could not read the GPUs of ${shown}: ${noCards}.`));
  if (fault !== undefined && error === undefined) faults.push(fault);
  return {
    id,
    name: shown,
    status: instance?.status ?? null,
    price_per_hour: instance?.price_per_hour_snapshot ?? null,
    gpus: [...(cards?.[0] ?? [])],
    cpu_percent: sample === undefined ? null : cpuPercent(partValue(sample.cpu)),
    memory_used_mib: memory?.used_mib ?? null,
    memory_total_mib: memory?.total_mib ?? null,
    disk_used_percent: sample === undefined ? null : partValue(sample.disk),
    idle_seconds: null,
    error: fault === undefined ? null : { code: fault.code, message: fault.message },
  };
}

function secondsOf({ idle_seconds = null }: IdleTime): Pick<TopRow, 'idle_seconds'> {
  return { idle_seconds };
}

/** Returns the CPU use of all cores together. */
function cpuPercent(times: readonly [CpuTime, CpuTime] | null): number | null {
  if (times === null) return null;
  const [before, after] = times;
  const [used, total] = [after.used - before.used, after.total - before.total];
  return used < 0 || total <= 0 ? null : Math.round((100 * used) / total);
}
