import type { ApiKey } from '../../api/index.ts';
import type { Group } from '../../cli/group.ts';
import { verb } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { create } from './create.ts';
import { type KeyRow, keyView } from './view.ts';

const FORGET = '"gpucloud logout" forgets a key on this computer; the key itself goes on working';

/** The verbs of `gpucloud api-keys`, in the order of the help. */
export const apiKeys: Group = {
  verbs: [
    verb('list', {
      aliases: ['ls'],
      summary: 'List API keys, without their secrets',
      view: keyView,
      notes:
        'IN USE marks the key of this command, found by the prefix that the service shows. Add ' +
        '--columns id,in_use to have it in JSON.',
      examples: ['gpucloud api-keys list', 'gpucloud api-keys list --json | jq -r ".[].name"'],
      takes: (command) => command,
      async run(context) {
        const keys = await (await context.api()).apiKeys.list();
        const rows = marked(keys, await keyInUse(context));
        await context.out.list(rows, keyView);
        if (rows.some((row) => row.in_use === null)) {
          context.err.note(
            'Several keys begin like the one in use, so it could not be told which it is.',
          );
        }
      },
    }),
    create,
  ],
  examples: ['gpucloud api-keys list', 'KEY=$(gpucloud api-keys create ci)'],
  undocumented: {
    delete: FORGET,
    rm: FORGET,
    revoke: FORGET,
    update: 'create another key: "gpucloud api-keys create NAME"',
    rotate:
      'create another key and keep it: "gpucloud api-keys create NAME --save-profile PROFILE"',
  },
};

async function keyInUse(context: Context): Promise<string | undefined> {
  const { sandbox, apiKey } = await context.settings();
  if (!sandbox) return apiKey?.value;
  const { SANDBOX_API_KEY } = await import('../../sandbox/index.ts');
  return SANDBOX_API_KEY;
}

/** Of several beginnings that fit, one that is longer than the others is the key's own. */
function marked(keys: readonly ApiKey[], inUse: string | undefined): KeyRow[] {
  const lengths = keys.map((key) => fittingLength(key, inUse));
  const longest = Math.max(0, ...lengths);
  const isShared = lengths.filter((length) => length === longest).length > 1;
  return keys.map((key, at) => {
    const fits = longest > 0 && lengths[at] === longest;
    return { key, in_use: fits && isShared ? null : fits };
  });
}

/** How much of a key the service shows; 0 when it is another key. */
function fittingLength({ key_prefix }: ApiKey, inUse: string | undefined): number {
  // "the list form may end with an ellipsis" (API document: Resources, API key).
  const beginning = (key_prefix ?? '').replace(/[.…*]+$/, '');
  return inUse?.startsWith(beginning) === true ? beginning.length : 0;
}
