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

/** A name whose request failed. An instance that was created is terminated. */
export interface NotRented {
  readonly name: string;
  readonly error: CliError;
  readonly end: JobEnd;
}

interface AllRented {
  readonly rented: readonly RentedHere[];
  readonly notRented: readonly NotRented[];
}

/** Rents the instances side by side. Throws CliError if nothing was sent. */
export async function rentEach(plan: JobPlan, context: Context): Promise<AllRented> {
  await warnIfUnarmed(plan, context);
  await runPreflight(context, nothingCreated, () => planRental(plan.request, plan, context));
  const named = (name: string) => ({ ...plan, request: { ...plan.request, instance_name: name } });
  const rented: RentedHere[] = [];
  // Several questions at once would be mixed up.
  const silent: Context = Object.create(context, { prompts: { value: async () => undefined } });
  const { each } = await rentSeveral(
    {
      names: plan.names,
      // The run ends all instances in one way, whatever failed.
      minCount: undefined,
      async obtain(name, gates) {
        const job = await rentJob(named(name), silent, gates);
        rented.push({ name, ...job });
        return { instance: job.instance, early: undefined };
      },
    },
    silent,
  );
  const notRented: NotRented[] = [];
  for (const one of each) {
    if (!('error' in one)) continue;
    const { name, error } = one;
    notRented.push({ name, error, end: await endUnusable(error, named(name), context) });
  }
  const order = ({ name }: RentedHere) => plan.names.indexOf(name);
  return { rented: rented.sort((a, b) => order(a) - order(b)), notRented };
}
