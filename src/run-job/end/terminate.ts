import type { Instance } from '../../api/index.ts';
import { AT_ONCE, eachBounded } from '../../bounded.ts';
import type { Context } from '../../context.ts';
import { CliError, unforeseen } from '../../errors.ts';
import { changeOne } from '../../instances/change.ts';
import { BRIEFLY } from '../../instances/refusal.ts';
import type { Target } from '../../instances/resolve.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { instant } from '../../output/time.ts';
import { money } from '../../rules/money.ts';
import { typedName } from '../../rules/names.ts';

/** Pauses before further attempts, in milliseconds. Each call also retries safe requests. */
const PAUSES = [2_000, 10_000, 30_000];

/**
 * Whether the termination is certain: the service shows the instance as TERMINATING or TERMINATED.
 */
export type Termination =
  | { readonly certain: true; readonly instance: Instance | undefined }
  | { readonly certain: false; readonly error: CliError };

/**
 * Terminates the instance of a job. Asks for no confirmation: the user confirmed by starting the
 * job.
 */
export async function terminate(target: Target, context: Context): Promise<Termination> {
  const [end] = await terminateEach([target], context);
  if (end === undefined) throw new Error('each instance has an end');
  return end;
}

/** Terminates instances, a few at a time. The third Ctrl-C leaves the others to their deadlines. */
export function terminateEach(
  targets: readonly Target[],
  context: Context,
): Promise<Termination[]> {
  let isLeft = false;
  const left = new Promise<void>((resolve) => {
    context.host.onThirdInterrupt?.(() => {
      isLeft = true;
      resolve();
    });
  });
  return eachBounded<Target, Termination>(targets, AT_ONCE, async (target) => {
    const leave = (): Termination => {
      const cause = new CliError('interrupted', 'Interrupted.');
      return { certain: false, error: notEnded(target, cause) };
    };
    if (isLeft) return leave();
    // Uses a new context, since the first Ctrl-C stopped all requests of the run's context.
    const end = context.shielded((own) => terminateIn(own, target));
    // Collects errors, so that one failure doesn't stop the other terminations.
    const failed = (thrown: unknown): Termination => {
      return { certain: false, error: notEnded(target, unforeseen(thrown)) };
    };
    return Promise.race([end.catch(failed), left.then(leave)]);
  });
}

async function terminateIn(context: Context, target: Target): Promise<Termination> {
  for (const pause of [...PAUSES, undefined]) {
    const error = await terminateOnce(context, target).then(
      () => undefined,
      (thrown: unknown) => (thrown instanceof CliError ? thrown : unforeseen(thrown)),
    );
    if (error === undefined)
      return { certain: true, instance: await readInstance(target, context) };
    if (pause === undefined) return { certain: false, error: notEnded(target, error) };
    await context.clock.sleep(pause);
  }
  throw new Error('every attempt has an outcome');
}

async function terminateOnce(context: Context, target: Target): Promise<void> {
  const change = { verb: 'terminate', done: 'terminated', goal: 'TERMINATED' } as const;
  // A run accepts TERMINATING as terminated. Without `waits`, changeOne would warn that the
  // instance may be billing.
  await changeOne(change, target, { api: await context.api(), waits: true }, context);
}

function notEnded({ id, name }: Target, cause: CliError): CliError {
  return new CliError(
    'outcomeUnknown',
    `Could not terminate ${name} (${id}): ${cause.message} It may still be billing.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: gpucloud('instances', 'terminate', typedName(name, id)),
      cause,
    },
  );
}

/** Reads the instance for its price. A failed read doesn't affect the termination. */
export async function readInstance(
  { id }: Target,
  context: Context,
): Promise<Instance | undefined> {
  try {
    return await (await context.api()).instances.get(id, BRIEFLY);
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

const HOUR = 3_600_000;

/**
 * Returns the price of every started hour, in roubles, as a decimal; null if the price or the time
 * is unknown. This is an upper limit, since the service returns the rest of the last hour (API
 * document: terminate).
 */
export function costAtMost(instance: Instance | undefined, now: number): string | null {
  const price = money(instance?.price_per_hour_snapshot ?? '');
  const created = instant(instance?.created_at);
  if (!price.ok || created === undefined) return null;
  const hours = Math.max(1, Math.ceil((now - created) / HOUR));
  return price.value.times(hours).toFixed(2);
}
