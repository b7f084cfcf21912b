import { broken, kept, type Verdict } from '../rules/rule.ts';
import { check } from './schemas/check.ts';
import { type CreateInstanceFields, createInstanceFields } from './schemas/instance.ts';

/**
 * Checks some of the fields of POST /instances, as a file describes a machine: none is required,
 * none but the documented ones may be there, and each follows its documented rule.
 * The broken rule names the field by its path, as `docker_config.ports.0.internal_port`.
 */
export function checkCreateFields(value: unknown): Verdict<CreateInstanceFields> {
  const checked = check(createInstanceFields, value);
  if (checked.ok) {
    return kept(checked.value);
  }
  const path = checked.where.map(String).join('.') || 'the file';
  return broken(`${path} ${checked.what}`);
}
