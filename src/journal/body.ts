import { createHmac } from 'node:crypto';

const MASK = '********';

/** Characters; larger bodies are not kept. */
const LARGEST = 64 * 1024;

export interface KeptBody {
  /** undefined when it is too large. */
  readonly body?: Record<string, unknown>;
  /** Whether anything was replaced or left out, so that the same request can't be made from it. */
  readonly masked: boolean;
  readonly body_hash: string;
}

/**
 * The body of a request as it may rest on a disk: values of the container's environment, its command
 * line, which often holds a token or password, and anything that holds a key of the service,
 * replaced. The hash of the whole tells later whether another body is the same.
 */
export function keptBody(body: object, apiKey: string): KeptBody {
  const json = JSON.stringify(body);
  let masked = false;
  const kept = JSON.parse(json, function (this: unknown, name: string, value: unknown) {
    const isVariable = name === 'value' && typeof this === 'object' && this !== null;
    const isSecret =
      typeof value === 'string' &&
      value !== '' &&
      ((isVariable && 'key' in (this as object)) ||
        name === 'run_command' ||
        value.includes('svc_sk_'));
    masked ||= isSecret;
    return isSecret ? MASK : value;
  });
  const body_hash = createHmac('sha256', apiKey).update(json).digest('hex');
  // A file that is too large for its reader would be none: an environment can be of any length.
  return JSON.stringify(kept).length > LARGEST
    ? { masked: true, body_hash }
    : { body: kept, masked, body_hash };
}
