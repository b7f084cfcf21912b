import type { MarkedKey } from '../../context/key-in-use.ts';
import { CliError } from '../../errors.ts';
import { instant, relative } from '../../output/time.ts';
import { type Check, resultsOf } from './check.ts';

/** A key used within these milliseconds counts as in use. */
const RECENT = 24 * 3_600_000;

/** Checks whether other keys are in use: whoever has one can rent. */
export function otherKeys(keys: readonly MarkedKey[] | CliError, now: number): Check {
  const { ok, finding, unknown } = resultsOf('other_api_keys');
  const command = 'gpucloud api-keys list';
  if (keys instanceof CliError) {
    return unknown(`The API keys could not be read: ${keys.message}`, { command });
  }
  if (!keys.some(({ in_use }) => in_use === true)) {
    return unknown('Could not determine which of the API keys this command uses.', { command });
  }
  const others = keys.filter(({ in_use }) => in_use !== true);
  const used = others.flatMap(({ name, id, key_prefix, last_used_at }) => {
    const at = instant(last_used_at);
    return at === undefined || now - at >= RECENT
      ? []
      : [`${name ?? id} (${key_prefix ?? 'no prefix'}), last used ${relative(at, now)}`];
  });
  if (used.length > 0) {
    return finding('Another API key of the account was used in the last 24 h.', {
      evidence: used,
      command,
    });
  }
  // null means never used.
  const isTold = others.every(({ last_used_at: at }) => at === null || instant(at) !== undefined);
  return isTold
    ? ok('No other API key was used in the last 24 h.')
    : unknown('The service did not show when an API key was last used.', { command });
}
