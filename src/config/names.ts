import { broken, kept, type Verdict } from '../rules/rule.ts';

/** The built-in profile: it has its own service, and is in no file. */
export const SANDBOX = 'sandbox';

/**
 * Validates a profile name to add or remove. `sandbox` is refused in any case, so that a paid profile
 * can't look like the free one. A leading hyphen would be read as a flag.
 */
export function profileName(text: string): Verdict<string> {
  if (text === '') {
    return broken('must not be empty');
  }
  if (text.length > 50) {
    return broken('must have at most 50 characters');
  }
  if (!/^[A-Za-z0-9._-]+$/.test(text)) {
    return broken('must contain only letters, digits, ".", "_" and "-"');
  }
  if (text.startsWith('-')) {
    return broken('must not start with "-"');
  }
  if (text.toLowerCase() === SANDBOX) {
    return broken(`the profile "${SANDBOX}" is built in, so it can't be added or removed`);
  }
  return kept(text);
}
