import { usageError } from '../errors.ts';
import { holdsPrivateKey } from '../rules/private-key.ts';

/**
 * Refuses a value of the command line that is a secret itself: a key of the service, or a private
 * SSH key. The shell's history and other programs have seen it by then, so that is said; it is
 * neither sent nor repeated.
 */
export function refuseSecret(flag: string, text: string): void {
  const what =
    text.includes('svc_sk_') && /svc_sk_[A-Za-z0-9]/.test(text)
      ? 'an API key'
      : holdsPrivateKey(text)
        ? 'a private key'
        : undefined;
  if (what !== undefined) {
    throw usageError(
      `${flag}: this is ${what}, which does not belong on a command line, where other programs and the shell's history see it (the value is not shown)`,
      'nothing was sent; replace the key if others can read that history',
    );
  }
}
