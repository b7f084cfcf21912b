import { usageError } from '../errors.ts';
import { resourceId } from '../rules/names.ts';
import { type Input, OPERATIONS, type Operation, type Title } from './operations.ts';
import { check } from './schemas/check.ts';
import type { Schema } from './schemas/fields.ts';

/** One request, with the text for its errors. */
export interface Request {
  readonly method: string;
  /** Path below the base URL, with a leading slash and its query. */
  readonly path: string;
  /** A JSON text. */
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The title in the API document: `POST /instances/{id}/stop`. */
  readonly title: string;
  /** Completes "The service refused …": `to stop instance box`. */
  readonly doing: string;
  /** The ID or name to show in errors. */
  readonly resource?: string | undefined;
  /** Explains a 404. */
  readonly missing?: string | undefined;
  /** Whether to resend the request at once even if it may have taken effect. */
  readonly isRepeated: boolean;
  /** Whether the request is idempotent. */
  readonly isRepeatable: boolean;
  readonly doubt?: string | undefined;
  readonly bills?: boolean | undefined;
  readonly needsState?: boolean | undefined;
}

/** An operation's request, with the operation and its input. */
export interface Prepared extends Request {
  readonly operation: Operation;
  readonly input: Input;
}

/** Whether the request may change something. A call that only reads can be stopped safely. */
export function changes({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/**
 * Builds an operation's request.
 *
 * @throws CliError `usage` if the ID could change the path, or the query or body breaks its rules.
 * The error names the field and the rule, never the value, which may be a password.
 */
export function requestOf(title: Title, input: Input): Prepared {
  const operation: Operation = OPERATIONS[title];
  const { id = '', query = {}, body = {} } = input;
  const { of, about = 'id', missing, retry, doubt, bills, needsState } = operation;
  const [method = '', path = ''] = title.split(' ');
  const verdict = of === undefined ? undefined : resourceId(id);
  if (verdict?.ok === false) throw usageError(`The ID of ${of} ${verdict.rule}.`);
  const json =
    operation.body === undefined ? undefined : JSON.stringify(checked(operation.body, body));
  const search = operation.query === undefined ? '' : queryText(checked(operation.query, query));
  const fields: Readonly<Record<string, unknown>> = {
    ...body,
    ...(of === undefined ? {} : { id }),
  };
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name) => String(fields[name]));
  return {
    operation,
    input,
    title,
    method,
    path: `${filled(path)}${search}`,
    body: json,
    doing: filled(operation.doing),
    resource: about in fields ? String(fields[about]) : undefined,
    missing: missing === undefined ? undefined : filled(missing),
    isRepeated: retry === 'repeat',
    isRepeatable: retry === 'repeat' || operation.isRepeatable === true,
    doubt,
    bills,
    needsState,
  };
}

/** Joins numbers, and lists of capital letters by commas (GET /billing/transactions). */
function queryText(query: object): string {
  const parts = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

function checked(schema: Schema<unknown>, value: object): object {
  const result = check(schema, value);
  if (result.ok) return value;
  throw usageError(`${result.where.map(String).join('.')} ${result.what}.`);
}
