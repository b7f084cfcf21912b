import { usageError } from '../../errors.ts';
import { resourceId } from '../../rules/names.ts';

import { check } from '../schemas/check.ts';
import type { Schema } from '../schemas/fields.ts';

export interface ApiRequest {
  readonly method: string;
  /** Below the base URL, starting with a slash, the query included. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An id as a segment of a path.
 *
 * @throws CliError `usage`, before any request, when the id could alter the path.
 */
export function segment(id: string, what: string): string {
  const verdict = resourceId(id);
  if (!verdict.ok) {
    throw usageError(`This is not the id of ${what}: ${verdict.rule}.`);
  }
  return verdict.value;
}

/**
 * The JSON text of a documented body.
 *
 * @throws CliError `usage`, before any request, naming the field and the rule but not the value,
 * which may be a password.
 */
export function bodyOf<T>(schema: Schema<T>, body: T): string {
  const result = check(schema, body);
  if (!result.ok) {
    throw usageError(`${result.where.map(String).join('.') || 'The body'} ${result.what}.`);
  }
  return JSON.stringify(result.value);
}

/** A query of the given fields alone; a list is joined by commas (GET /billing/transactions). */
export function queryOf<T extends Readonly<Record<string, number | string[] | undefined>>>(
  schema: Schema<T>,
  query: T,
): string {
  const result = check(schema, query);
  if (!result.ok) {
    throw usageError(`${result.where.map(String).join('.')} ${result.what}.`);
  }
  const parts: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    const text = Array.isArray(value) ? value.map(encodeURIComponent).join(',') : value;
    if (text !== undefined && text !== '') {
      parts.push(`${encodeURIComponent(name)}=${text}`);
    }
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
