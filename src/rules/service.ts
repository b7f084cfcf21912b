import { broken, kept, type Verdict } from './rule.ts';

const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/;

/** Whether a checked address is one of this computer. */
export function isLoopback(url: string): boolean {
  return LOOPBACK.test(new URL(url).hostname);
}

/**
 * Checks a service's address: https, or http on loopback only, since a header carries the key.
 * Allows no user name, query or fragment. Removes trailing slashes.
 */
export function baseUrl(text: string): Verdict<string> {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return broken('must be a complete address, such as https://api.example.com/v1');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return broken('must start with https://');
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    return broken(
      'http:// is only for this computer (loopback): it would send the key unencrypted',
    );
  }
  if (url.username !== '' || url.password !== '') {
    return broken('must not contain a user name or password');
  }
  if (text.includes('?') || text.includes('#')) {
    return broken('must not contain a query or fragment');
  }
  return kept(`${url.origin}${withoutEndSlash(url.pathname)}`);
}

export function withoutEndSlash(path: string): string {
  return path.endsWith('/') ? path.replace(/\/+$/, '') : path;
}

/**
 * Checks that an API key is valid in the X-API-KEY header (API document: Authentication): only
 * visible ASCII, so no line break can add a header. Does not require the documented prefix
 * `svc_sk_`, since only the service knows which keys work. The rule never repeats the key.
 */
export function apiKey(text: string): Verdict<string> {
  return /^[\x21-\x7e]{1,1024}$/.test(text)
    ? kept(text)
    : broken('must be one line of visible ASCII characters');
}
