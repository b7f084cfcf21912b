import type { ApiKey } from '../../api/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { type KeyRow, keyView } from './view.ts';

export function registerList(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'IN USE marks the key that this command was made with, told by the beginning that the service\n' +
      'shows of each. JSON is the data of the service; "--columns id,in_use --json" has the mark too.',
    examples: ['gpucloud api-keys list', 'gpucloud api-keys list --json | jq -r ".[].name"'],
  }).action((_flags, command) => listKeys(frame.context(command)));
}

export async function listKeys(context: Context): Promise<void> {
  const keys = await (await context.api()).apiKeys.list();
  const rows = marked(keys, await keyInForce(context));
  await context.out.list(rows, keyView);
  if (rows.some((row) => row.in_use === null)) {
    context.err.note(
      'Several keys begin like the one in use, so it could not be told which it is.',
    );
  }
}

async function keyInForce(context: Context): Promise<string | undefined> {
  const { sandbox, apiKey } = await context.settings();
  if (sandbox) {
    const { SANDBOX_API_KEY } = await import('../../sandbox/index.ts');
    return SANDBOX_API_KEY;
  }
  return apiKey?.value;
}

/** Of several beginnings that fit, one that is longer than the others is the key's own. */
function marked(keys: readonly ApiKey[], inForce: string | undefined): KeyRow[] {
  const lengths = keys.map((key) => fittingLength(key, inForce));
  const longest = Math.max(0, ...lengths);
  const isShared = lengths.filter((length) => length === longest).length > 1;
  return keys.map((key, at) => {
    const fits = longest > 0 && lengths[at] === longest;
    return { key, in_use: fits && isShared ? null : fits };
  });
}

/** How much of a key the service shows; 0 when it is another key. */
function fittingLength({ key_prefix }: ApiKey, inForce: string | undefined): number {
  // "the list form may end with an ellipsis" (API document: Resources, API key).
  const beginning = (key_prefix ?? '').replace(/[.…*]+$/, '');
  return inForce?.startsWith(beginning) === true ? beginning.length : 0;
}
