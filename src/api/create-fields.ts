import { check } from './schemas/check.ts';
import { type CreateInstanceFields, createInstanceFields } from './schemas/instance-body.ts';

export type CheckedFields =
  | { readonly ok: true; readonly value: CreateInstanceFields }
  /** `where` is the path of the field; `what` completes "FIELD …". */
  | { readonly ok: false; readonly where: readonly PropertyKey[]; readonly what: string };

/**
 * Checks some of the fields of POST /instances, as a file describes a machine: none is required,
 * none but the documented ones may be there, and each follows its documented rule.
 */
export function checkCreateFields(value: unknown): CheckedFields {
  return check(createInstanceFields, value);
}
