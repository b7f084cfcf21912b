import type { Group } from '../../command-line/group.ts';
import { verb } from '../../command-line/verb.ts';
import { marked } from '../../context/key-in-use.ts';
import { create } from './create.ts';
import { keyView } from './view.ts';

export const apiKeys: Group = {
  verbs: {
    list: verb({
      aliases: ['ls'],
      summary: 'List API keys, without their secrets',
      tool: { allow: 'read' },
      view: keyView,
      notes:
        'IN USE marks the key that gpucloud uses, matched by its prefix. Add ' +
        '--columns id,in_use to include it in JSON.',
      examples: ['gpucloud api-keys list', 'gpucloud api-keys list --json | jq -r ".[].name"'],
      takes: (command) => command,
      async run(context) {
        const keys = await (await context.api()).apiKeys.list();
        const rows = await marked(keys, context);
        await context.out.list(rows, keyView);
        if (rows.some((row) => row.in_use === null)) {
          context.err.note(
            'Could not determine which key is in use: several have the same prefix.',
          );
        }
      },
    }),
    create: () => create,
  },
  examples: ['gpucloud api-keys list', 'KEY=$(gpucloud api-keys create ci)'],
};
