import { type Fault, parse } from '../schema/parse.ts';
import { array, looseObject, minLength, nullable, optional, string } from '../schema/schema.ts';
import type { ConfigFile } from './file.ts';

const profileSchema = looseObject({
  base_url: string(),
  api_key: optional(string()),
  keyring: optional(string()),
  key_command: optional(array(string(), minLength(1))),
  account: optional(
    looseObject({
      id: string(),
      email: optional(nullable(string())),
      name: optional(nullable(string())),
    }),
  ),
});

const fileSchema = looseObject({
  current: optional(string()),
  profiles: looseObject({}),
});

/**
 * Where a value that should be a config file is not one: `profiles.work.base_url`, `the whole`;
 * undefined when it is one.
 *
 * The schemas only judge, and the value itself is used: zod drops a key named `__proto__` from
 * what it returns, which a later save would then lose. For the same reason each profile is judged
 * by itself. The answer holds no value of the file, since that may be a key.
 */
export function wrongPart(value: unknown): string | undefined {
  const whole = parse(fileSchema, value);
  if (!whole.ok) {
    return part([], whole.faults);
  }
  for (const [name, profile] of Object.entries((value as ConfigFile).profiles)) {
    const verdict = parse(profileSchema, profile);
    if (!verdict.ok) {
      return part(['profiles', name], verdict.faults);
    }
  }
  return undefined;
}

function part(above: readonly string[], [fault]: readonly [Fault, ...Fault[]]): string {
  const path = [...above, ...fault.path];
  return path.length === 0 ? 'the whole' : path.map(String).join('.');
}
