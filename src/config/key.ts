import type { Profile } from './file.ts';

/**
 * The key that a profile keeps, or undefined. The one place that knows where a profile's key rests:
 * a keyring or a password manager's command would be asked here.
 */
export function storedKey(profile: Profile): string | undefined {
  return profile.api_key;
}
