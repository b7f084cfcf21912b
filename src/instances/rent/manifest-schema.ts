import { filled, type Infer, ruled } from '../../api/schemas/fields.ts';
import { createInstanceFields } from '../../api/schemas/instance-body.ts';
import { brokenBy } from '../../command-line/parse.ts';
import { lazy } from '../../lazy.ts';
import { variableName } from '../../rules/container.ts';
import { moneyFromZero, positiveMoney } from '../../rules/money.ts';
import { newInstanceName } from '../../rules/names.ts';
import { duration, idleTime, moment, pollInterval, positiveDuration } from '../../rules/times.ts';
import * as z from '../../zod.ts';
import { MOST_INSTANCES } from './count.ts';

/** Fields that only `run` uses. */
const jobFields = lazy(() => ({
  command: z.optional(
    z.union([
      filled(),
      z.array(z.string()).check(
        z.minLength(1),
        z.refine(([first]) => first !== '', { error: 'its first word must not be empty' }),
      ),
    ]),
  ),
  setup: z.optional(filled()),
  setup_files: z.optional(z.array(filled())),
  sync: z.optional(filled()),
  exclude: z.optional(z.array(filled())),
  gitignore: z.optional(z.boolean()),
  fetch: z.optional(z.array(filled())),
  fetch_every: z.optional(ruled(pollInterval)),
  pass_env: z.optional(z.array(ruled(variableName))),
  here: z.optional(z.boolean()),
  keep_on_failure: z.optional(ruled(duration)),
  grace: z.optional(ruled(duration)),
}));

/** Fields for the variables of a container, or without one of the command. */
const variableFields = lazy(() => ({
  env: z.optional(
    z.record(
      z.string().check(z.regex(/^[^=\0]+$/)),
      z.nullable(z.union([z.string(), z.number(), z.boolean()])),
    ),
  ),
  env_file: z.optional(z.array(filled())),
}));

/**
 * Schema of a `--file` manifest: the fields of POST /instances, gpucloud's flags that limit the
 * instance, and the job to run on it.
 */
export const manifestSchema = lazy(() => {
  const amount = (rule: typeof positiveMoney) =>
    z.optional(
      z.union([z.string(), z.number()]).check(
        z.refine((value) => rule(String(value)).ok, {
          error: ({ input }) => brokenBy(rule)(String(input)),
        }),
      ),
    );
  const count = () => z.optional(z.int().check(z.gte(1), z.lte(MOST_INSTANCES)));
  return z.extend(createInstanceFields(), {
    /** Schema URL, which lets an editor check the file. */
    $schema: z.optional(z.string()),
    name: z.optional(ruled(newInstanceName)),
    offers: z.optional(z.array(filled()).check(z.minLength(1))),
    retry_for: z.optional(ruled(positiveDuration)),
    terminate_after: z.optional(ruled(positiveDuration)),
    terminate_at: z.optional(ruled(moment)),
    if_idle: z.optional(ruled(idleTime)),
    rescue: z.optional(z.array(filled())),
    rescue_budget: amount(moneyFromZero),
    max_price: amount(positiveMoney),
    count: count(),
    min_count: count(),
    ...variableFields(),
    ...jobFields(),
  });
});

export type ManifestFields = Infer<typeof manifestSchema>;

/** Whether only `run` uses a field. */
export function isOfJob(field: string): boolean {
  return Object.hasOwn(jobFields(), field);
}

/** Whether a field sets variables, for an instance or for a job. */
export function isOfVariables(field: string): boolean {
  return Object.hasOwn(variableFields(), field);
}
