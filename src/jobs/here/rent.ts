import type { Context } from '../../context.ts';
import type { CliError } from '../../errors.ts';
import { planRental } from '../../instances/rent/planned.ts';
import { nothingCreated, runPreflight } from '../../instances/rent/preflight.ts';
import { rentSeveral } from '../../instances/rent/several.ts';
import type { JobEnd } from '../end/report.ts';
import type { JobPlan } from '../job.ts';
import type { Noted } from '../record/note.ts';
import { isRented, type RentedRecord } from '../record/record.ts';
import { endUnusable, type Rented, rentFor, saveUnrented } from '../rent.ts';

/** An instance of the run, with the record of its job. */
export interface RentedHere extends Rented {
  readonly job: Noted<RentedRecord>;
}

interface Failed {
  readonly job: Noted;
  readonly error: CliError;
}

/** A job whose request failed, with the termination of its instance if one was created. */
export interface NotRented extends Failed {
  readonly end: JobEnd;
}

interface AllRented {
  readonly rented: readonly RentedHere[];
  readonly failed: readonly Failed[];
}

/** Rents an instance for each job in parallel. Throws CliError if nothing was sent. */
export async function rentEach(
  jobs: readonly Noted[],
  plan: JobPlan,
  context: Context,
): Promise<AllRented> {
  await runPreflight(context, nothingCreated, () => planRental(plan.request, plan, context));
  const rented: RentedHere[] = [];
  const jobOf = (name: string) => {
    const job = jobs.find(({ record }) => record.name === name);
    if (job === undefined) throw new Error('each name has a job');
    return job;
  };
  // Asks no questions, since prompts of parallel requests would mix.
  const silent: Context = Object.create(context, { prompts: { value: async () => undefined } });
  const { each } = await rentSeveral(
    {
      names: plan.names,
      // The run terminates all instances in one place, after any failure.
      minCount: undefined,
      async obtain(name, gates) {
        const job = jobOf(name);
        const one = await rentFor(job, planOf(name, plan), silent, gates);
        const { record } = job;
        if (!isRented(record)) throw new Error('a rented instance has an ID');
        rented.push({ ...one, job: { record, isUnsaved: job.isUnsaved } });
        return { instance: one.instance, early: undefined };
      },
    },
    silent,
  );
  const order = ({ job }: RentedHere) => plan.names.indexOf(job.record.name);
  rented.sort((a, b) => order(a) - order(b));
  const failed = each.flatMap((one) =>
    'error' in one ? [{ job: jobOf(one.name), error: one.error }] : [],
  );
  return { rented, failed };
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
    failed.map(async ({ job, error }) => {
      const end = await endUnusable(error, planOf(job.record.name, plan), context);
      await saveUnrented(end, job, context);
      return { job, error, end };
    }),
  );
}
