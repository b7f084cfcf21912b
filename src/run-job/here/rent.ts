import type { Context } from '../../context.ts';
import type { CliError } from '../../errors.ts';
import { nothingCreated, runPreflight } from '../../instances/preflight.ts';
import { rentSeveral } from '../../instances/rental/several.ts';
import { planRental } from '../../instances/request/planned.ts';
import type { JobEnd } from '../end/report.ts';
import type { JobPlan } from '../job.ts';
import { endUnusable, type RentedJob, rentJob, warnIfUnarmed } from '../rent.ts';

export interface RentedHere extends RentedJob {
  readonly name: string;
}

interface Failed {
  readonly name: string;
  readonly error: CliError;
}

/** A name whose request failed, with the termination of its instance if one was created. */
export interface NotRented extends Failed {
  readonly end: JobEnd;
}

interface AllRented {
  readonly rented: readonly RentedHere[];
  readonly failed: readonly Failed[];
}

/** Rents the instances in parallel. Throws CliError if nothing was sent. */
export async function rentEach(plan: JobPlan, context: Context): Promise<AllRented> {
  await warnIfUnarmed(plan, context);
  await runPreflight(context, nothingCreated, () => planRental(plan.request, plan, context));
  const rented: RentedHere[] = [];
  // Asks no questions, since prompts of parallel requests would mix.
  const silent: Context = Object.create(context, { prompts: { value: async () => undefined } });
  const { each } = await rentSeveral(
    {
      names: plan.names,
      // The run terminates all instances in one place, after any failure.
      minCount: undefined,
      async obtain(name, gates) {
        const job = await rentJob(planOf(name, plan), silent, gates);
        rented.push({ name, ...job });
        return { instance: job.instance, early: undefined };
      },
    },
    silent,
  );
  const order = ({ name }: RentedHere) => plan.names.indexOf(name);
  rented.sort((a, b) => order(a) - order(b));
  return { rented, failed: each.flatMap((one) => ('error' in one ? [one] : [])) };
}

function planOf(name: string, plan: JobPlan): JobPlan {
  return { ...plan, request: { ...plan.request, instance_name: name } };
}

/** Terminates the instance of a failed request if its ID is known. */
export function endFailed(
  failed: readonly Failed[],
  plan: JobPlan,
  context: Context,
): Promise<NotRented[]> {
  return Promise.all(
    failed.map(async ({ name, error }) => {
      return { name, error, end: await endUnusable(error, planOf(name, plan), context) };
    }),
  );
}
