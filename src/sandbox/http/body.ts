import type { core, ZodMiniType } from '../../zod.ts';
import { badRequest } from '../refusal.ts';

export interface RawBody {
  text: string;
  /** Whether the header Content-Type is `application/json`. */
  isJson: boolean;
}

/** Parses a documented body. Rejects any other body (400) with a message that names the field. */
export function parseBody<T>(schema: ZodMiniType<T>, body: RawBody): T {
  if (!body.isJson) throw badRequest('The header Content-Type must be application/json');
  const result = schema.safeParse(parseJson(body.text));
  if (result.success) return result.data;
  throw badRequest(result.error.issues.map(describe).join('; '));
}

/** Rejects a body except an empty one or `{}`, for operations without a body. */
export function refuseBody(body: RawBody): void {
  if (body.text.trim() === '') return;
  const isEmpty = JSON.stringify(parseJson(body.text)) === '{}';
  if (!isEmpty) throw badRequest('This operation takes no body');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('The body is not valid JSON');
  }
}

// Describes an issue, since zod/mini has no messages of its own.
function describe(issue: core.$ZodIssue): string {
  const place = issue.path
    .map((key, index) =>
      typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`,
    )
    .join('');
  const subject = place === '' ? 'The body' : place;
  switch (issue.code) {
    case 'unrecognized_keys':
      return `${subject} has unknown fields: ${issue.keys.join(', ')}`;
    case 'invalid_type':
      return `${subject} must be of type ${issue.expected}`;
    case 'custom':
      return `${subject}: ${issue.message}`;
    default:
      return `${subject} is not valid`;
  }
}
