import { faultsIn, NOT_DOCUMENTED, type Odd } from '../../api/schemas/check.ts';
import { filled, type Infer, ruled } from '../../api/schemas/fields.ts';
import { createInstanceFields } from '../../api/schemas/instance-body.ts';
import { lazy } from '../../lazy.ts';
import { positiveMoney } from '../../rules/money.ts';
import { moment, positiveDuration } from '../../rules/times.ts';
import * as z from '../../zod.ts';

/**
 * Schema of a `--file` manifest: the fields of POST /instances, and gpucloud's flags that limit the
 * instance.
 */
export const manifestSchema = lazy(() =>
  z.extend(createInstanceFields(), {
    /** Schema URL, which lets an editor check the file. */
    $schema: z.optional(z.string()),
    offers: z.optional(z.array(filled()).check(z.minLength(1))),
    terminate_after: z.optional(ruled(positiveDuration)),
    terminate_at: z.optional(ruled(moment)),
    max_price: z.optional(
      z.union([z.string(), z.number()]).check(
        z.refine((value) => positiveMoney(String(value)).ok, {
          error: ({ input }) => ruleOf(positiveMoney(String(input))),
        }),
      ),
    ),
  }),
);

export type ManifestFields = Infer<typeof manifestSchema>;

function ruleOf(verdict: ReturnType<typeof positiveMoney>): string | undefined {
  return verdict.ok ? undefined : verdict.rule;
}

/** Returns the faults of a file, each with the rule of its field. */
export function faultsInManifest(value: unknown): Odd[] {
  const names = Object.keys(manifestSchema().shape);
  return faultsIn(manifestSchema, value).map(({ where, what }) => {
    if (what !== NOT_DOCUMENTED) return { where, what };
    const [name] = where;
    // Suggests the field for a wrong name: `instance_name` for `name`, `storage_drive_id` for
    // `drive`.
    const meant = names.find((one) => one.split('_').includes(String(name)));
    const isMeant = where.length === 1 && meant !== undefined;
    return { where, what: isMeant ? `is unknown (did you mean ${meant}?)` : 'is unknown' };
  });
}
