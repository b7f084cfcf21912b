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

/** One operation with its arguments: its request, and what an error says and is. */
export interface Operation {
  /** As the document heads it: `POST /instances/{id}/stop`. */
  readonly heading: string;
  /** Completes "The service refused …": `to stop the instance box`. */
  readonly doing: string;
  /** In the place of `{id}`, see {@link segment}. */
  readonly id?: string;
  /** See {@link queryOf}. */
  readonly query?: string;
  /** See {@link bodyOf}. */
  readonly body?: string;
  /** The id or name that an error names. */
  readonly resource?: string;
  /** Whether a POST can be repeated at will, doubt or no doubt. PATCH and DELETE always can. */
  readonly repeatable?: boolean;
  /** What may be so if its outcome is unknown. */
  readonly doubt?: string;
  /** Whether that costs money. */
  readonly bills?: boolean;
  /** What a 404 means. */
  readonly missing?: string;
  /** Whether a documented 400 speaks of the state of a thing, not of the request. */
  readonly needsState?: boolean;
}

/** What only reads can always be given up without a doubt. */
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
 * An id as a segment of a path.
 *
 * @throws CliError `usage`, before any request, when the id could alter the path.
 */
export function segment(id: string, what: string): string {
  const verdict = resourceId(id);
  if (!verdict.ok) throw usageError(`This is not the id of ${what}: ${verdict.rule}.`);
  return verdict.value;
}

/**
 * The JSON text of a documented body.
 *
 * @throws CliError `usage`, before any request, naming the field and the rule but not the value,
 * which may be a password.
 */
export function bodyOf<T>(schema: Schema<T>, body: T): string {
  return JSON.stringify(checked(schema, body));
}

/** A query of the given fields alone; a list is joined by commas (GET /billing/transactions). */
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
