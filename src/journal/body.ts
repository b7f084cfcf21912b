const MASK = '********';

/** Characters; larger bodies are not kept. */
const LARGEST = 64 * 1024;

/**
 * The body of a request without its secrets: values of the container's environment, its command
 * line, which often holds a token, and anything that holds an API key. undefined if it is too large.
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
