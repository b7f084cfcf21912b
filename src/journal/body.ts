import { MASK } from '../rules/secrets.ts';

/** In characters; a larger body is not stored. */
const LARGEST = 64 * 1024;

/**
 * Returns a request body with its secrets masked: container environment values, the container's
 * command line (it often holds a token) and anything that contains an API key. Returns undefined if
 * the body is too large.
 */
export function keptBody(body: object): Record<string, unknown> | undefined {
  const kept = JSON.stringify(body, function (this: unknown, name: string, value: unknown) {
    const isVariable = name === 'value' && typeof this === 'object' && this !== null;
    const isSecret =
      typeof value === 'string' &&
      value !== '' &&
      ((isVariable && 'key' in (this as object)) ||
        name === 'run_command' ||
        value.includes('svc_sk_'));
    return isSecret ? MASK : value;
  });
  return kept.length > LARGEST ? undefined : JSON.parse(kept);
}
