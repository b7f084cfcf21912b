import type { Context } from '../context.ts';
import { baseUrl } from '../rules/service.ts';
import { checkedAddress } from './parse.ts';

/** The address that a flag (checked where it was parsed) or the environment gives. */
export function givenBaseUrl({ flags, env }: Pick<Context, 'flags' | 'env'>): string | undefined {
  if (flags.baseUrl !== undefined) {
    return flags.baseUrl;
  }
  const text = env.GPUCLOUD_BASE_URL;
  if (text === undefined || text === '') {
    return undefined;
  }
  return checkedAddress('GPUCLOUD_BASE_URL', text, baseUrl);
}

/** The check of a prompt for an address: the broken rule, or undefined. */
export function brokenBaseUrl(text: string): string | undefined {
  const verdict = baseUrl(text.trim());
  return verdict.ok ? undefined : verdict.rule;
}
