import { usageError } from '../../errors.ts';
import { resourceId } from '../../rules/names.ts';
import { check } from '../schemas/check.ts';
import type { Schema } from '../schemas/fields.ts';

export interface ApiRequest {
  readonly method: string;
  /** Path below the base URL, with a leading slash and the query. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One operation with its arguments: its request, and the texts for its errors. */
export interface Operation {
  /** As the document titles it: `POST /instances/{id}/stop`. */
  readonly heading: string;
  /** Completes "The service refused …": `to stop the instance box`. */
  readonly doing: string;
  /** Replaces `{id}`, see {@link segment}. */
  readonly id?: string;
  /** See {@link queryOf}. */
  readonly query?: string;
  /** See {@link bodyOf}. */
  readonly body?: string;
  /** ID or name for errors. */
  readonly resource?: string;
  /** Whether a POST is safe to repeat even with an unknown outcome. PATCH and DELETE always are. */
  readonly repeatable?: boolean;
  /** The possible effects if the outcome is unknown. */
  readonly doubt?: string;
  /** Whether that would bill. */
  readonly bills?: boolean;
  /** The meaning of a 404. */
  readonly missing?: string;
  /** Whether a documented 400 is about the resource's state, not the request. */
  readonly needsState?: boolean;
}

/** A call that only reads can be dropped without an unknown outcome. */
export function changes({ heading }: Operation): boolean {
  return !/^(GET|HEAD) /.test(heading);
}

export function isRepeatable({ heading, repeatable }: Operation): boolean {
  return repeatable ?? /^(GET|HEAD|PATCH|DELETE) /.test(heading);
}

export function requestOf({ heading, id = '', query = '', body }: Operation): ApiRequest {
  const [method = '', path = ''] = heading.split(' ');
  return {
    method,
    path: `${path.replace('{id}', () => id)}${query}`,
    ...(body === undefined ? {} : { body }),
  };
}

/**
 * Encodes an ID as a path segment.
 *
 * @throws CliError `usage`, before any request, if the ID could change the path.
 */
export function segment(id: string, what: string): string {
  const verdict = resourceId(id);
  if (!verdict.ok) throw usageError(`This is not the ID of ${what}: ${verdict.rule}.`);
  return verdict.value;
}

/**
 * Returns the JSON text of a documented body.
 *
 * @throws CliError `usage`, before any request. It names the field and the rule but not the value,
 * which may be a password.
 */
export function bodyOf<T>(schema: Schema<T>, body: T): string {
  return JSON.stringify(checked(schema, body));
}

/** Builds a query from the fields that are set; lists are joined by commas (GET /billing/transactions). */
export function queryOf<T extends Readonly<Record<string, number | string[] | undefined>>>(
  schema: Schema<T>,
  query: T,
): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(checked(schema, query))) {
    const text = Array.isArray(value) ? value.map(encodeURIComponent).join(',') : value;
    if (text !== undefined && text !== '') parts.push(`${encodeURIComponent(name)}=${text}`);
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

function checked<T>(schema: Schema<T>, value: T): T {
  const result = check(schema, value);
  if (result.ok) return result.value;
  throw usageError(`${result.where.map(String).join('.') || 'The body'} ${result.what}.`);
}
