import { lazy } from '../lazy.ts';
import { money } from '../rules/money.ts';
import * as z from '../zod.ts';
import type { ConfigFile } from './file.ts';

const profileSchema = lazy(() =>
  z.looseObject({
    base_url: z.string(),
    api_key: z.optional(z.string()),
    keyring: z.optional(z.string()),
    key_command: z.optional(z.array(z.string()).check(z.minLength(1))),
    account: z.optional(
      z.looseObject({
        id: z.string(),
        email: z.nullish(z.string()),
        name: z.nullish(z.string()),
      }),
    ),
    // A guard that can't be read must not count as none.
    guards: z.optional(
      z.looseObject({
        max_instances: z.optional(z.int().check(z.nonnegative())),
        max_burn: z.optional(z.string().check(z.refine((text) => money(text).ok))),
        require_deadline: z.optional(z.boolean()),
      }),
    ),
  }),
);

const fileSchema = lazy(() =>
  z.looseObject({ current: z.optional(z.string()), profiles: z.looseObject({}) }),
);

/**
 * Returns the invalid part of a config file: `profiles.work.base_url`, `the whole`; undefined if it
 * is valid.
 *
 * The schemas only validate: zod drops a key named `__proto__` from its result, so a later save
 * would lose it. For the same reason each profile is validated by itself. The result contains no
 * value of the file, since that may be a key.
 */
export function wrongPart(value: unknown): string | undefined {
  const whole = fileSchema().safeParse(value);
  if (!whole.success) return part([], whole.error.issues[0]?.path);
  for (const [name, profile] of Object.entries((value as ConfigFile).profiles)) {
    const verdict = profileSchema().safeParse(profile);
    if (!verdict.success) return part(['profiles', name], verdict.error.issues[0]?.path);
  }
  return undefined;
}

function part(above: readonly string[], below: readonly PropertyKey[] = []): string {
  return [...above, ...below].map(String).join('.') || 'the whole';
}
