import { broken, kept, type Verdict } from './rule.ts';

/**
 * An API key as it may stand in the X-API-KEY header (spec: Authentication): visible ASCII alone,
 * so that no line break can add a header. The documented prefix `svc_sk_` is not demanded, since
 * only the service can say which keys work. The rule never repeats the key.
 */
export function apiKey(text: string): Verdict<string> {
  return /^[\x21-\x7e]{1,1024}$/.test(text)
    ? kept(text)
    : broken('an API key is one line of visible ASCII characters');
}
