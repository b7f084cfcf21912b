import type { Context } from '../../context.ts';
import type { CliError } from '../../errors.ts';
import { rentSeveral } from '../../instances/rent/several.ts';
import type { JobPlan } from '../job.ts';
import type { Noted } from '../record/note.ts';
import { type Rented, rentFor } from '../rent.ts';

/** Rents an instance for each job in parallel. Returns each outcome by its name, in their order. */
export async function rentEach(
  jobs: readonly Noted[],
  plan: JobPlan,
  context: Context,
): Promise<Map<string, Rented | CliError>> {
  const rented = new Map<string, Rented>();
  // Asks no questions, since prompts of parallel requests would mix.
  const silent: Context = Object.create(context, { prompts: { value: async () => undefined } });
  const { each } = await rentSeveral(
    {
      names: plan.names,
      // Each member ends its own instance.
      minCount: undefined,
      async obtain(name, gates) {
        const job = jobs.find(({ record }) => record.name === name);
        if (job === undefined) throw new Error('each name has a job');
        const one = await rentFor(job, planOf(name, plan), silent, gates);
        rented.set(name, one);
        return { instance: one.instance, early: undefined };
      },
    },
    silent,
  );
  return new Map(
    each.map((one) => {
      const outcome = 'error' in one ? one.error : rented.get(one.name);
      if (outcome === undefined) throw new Error('each name has an outcome');
      return [one.name, outcome];
    }),
  );
}

/** Returns the plan for one of the instances. */
export function planOf(name: string, plan: JobPlan): JobPlan {
  return { ...plan, request: { ...plan.request, instance_name: name } };
}
