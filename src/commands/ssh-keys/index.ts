import type { Api, SshKey } from '../../api/index.ts';
import { confirm } from '../../command-line/confirm.ts';
import type { Group } from '../../command-line/group.ts';
import { OR_STDIN, severalGiven } from '../../command-line/input.ts';
import { findOne, SSH_KEY } from '../../command-line/lookup.ts';
import { refuseSecret } from '../../command-line/parse.ts';
import { printEach, showDone } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { asCliError, type CliError } from '../../errors.ts';
import { lazy } from '../../lazy.ts';
import { publicKey } from '../../rules/public-key.ts';
import { add } from './add.ts';
import { sshKeyView } from './view.ts';

const KEYS = `names, IDs, ID prefixes or fingerprints${OR_STDIN}`;

export const sshKeys: Group = {
  verbs: {
    list: verb({
      aliases: ['ls'],
      summary: 'List SSH keys, newest first',
      tool: { allow: 'read' },
      view: sshKeyView,
      examples: ['gpucloud ssh-keys list', 'gpucloud ssh-keys list --columns name,public_key'],
      takes: (command) => command,
      async run(context) {
        await context.out.list(await (await context.api()).sshKeys.list(), sshKeyView);
      },
    }),
    get: verb({
      aliases: ['show'],
      summary: 'Show an SSH key, with the public key',
      tool: { allow: 'read' },
      view: sshKeyView,
      notes: "The API can't return a single key, so get searches the list.",
      completes: { key: 'ssh-key' },
      examples: [
        'gpucloud ssh-keys get laptop',
        'gpucloud ssh-keys get laptop --columns public_key --no-header',
      ],
      takes: (command) => command.argument('<key...>', KEYS),
      async run(context, typed) {
        const work = keyFinder(await context.api());
        await printEach('KEY', typed, { work, view: sshKeyView }, context);
      },
    }),
    add: () => add,
    delete: verb({
      aliases: ['rm'],
      summary: 'Delete SSH keys',
      tool: { allow: 'all', destroys: true, asks: true },
      view: sshKeyView,
      notes: "New instances can't use a deleted key. Existing instances keep the key.",
      completes: { key: 'ssh-key' },
      examples: ['gpucloud ssh-keys delete laptop', 'gpucloud ssh-keys delete laptop agent --yes'],
      takes: (command) => command.argument('<key...>', KEYS),
      run: (context, typed) => deleteKeys(typed, context),
    }),
  },
  examples: [
    'gpucloud ssh-keys list',
    'gpucloud ssh-keys get laptop',
    'gpucloud ssh-keys add ~/.ssh/id_ed25519.pub',
    'gpucloud ssh-keys delete laptop',
  ],
};

/**
 * Finds a key by ID, ID prefix, name, or fingerprint (from the service or `ssh-keygen -l`). Reads
 * the list once.
 */
function keyFinder(api: Api): (typed: string) => Promise<SshKey> {
  const list = lazy(() => api.sshKeys.list());
  return async (typed) => {
    refuseSecret('KEY', typed);
    // Loads the rule late: it imports node:crypto, and lists and help don't need it.
    return findOne(typed, {
      ...SSH_KEY,
      flag: 'KEY',
      list,
      also({ public_key, fingerprint }) {
        const parsed = publicKey(public_key ?? '');
        return parsed.ok ? [fingerprint, parsed.value.fingerprint] : [fingerprint];
      },
    });
  };
}

/** Finds every key before deleting the first. Continues after a failure. */
async function deleteKeys(given: readonly string[], context: Context): Promise<void> {
  const typed = await severalGiven('KEY', given, context);
  for (const text of typed) refuseSecret('KEY', text);
  // Requires --yes before any request if not interactive.
  if ((await context.prompts()) === undefined) await confirm(context, question(typed));
  const api = await context.api();
  const find = keyFinder(api);
  const found = new Map<string, SshKey>();
  for (const text of typed) {
    const key = await find(text);
    found.set(key.id, key);
  }
  const keys = [...found.values()];
  await confirm(context, question(keys.map(describe)));

  const deleted: SshKey[] = [];
  const failed: CliError[] = [];
  for (const key of keys) {
    try {
      await api.sshKeys.delete(key.id);
      deleted.push(key);
    } catch (error) {
      failed.push(asCliError(error));
    }
  }
  if (deleted.length > 0) {
    const kept = deleted.length === 1 ? 'the key' : 'the keys';
    context.err.note(
      `Deleted ${deleted.map(describe).join(' and ')}. Existing instances keep ${kept}.`,
    );
  }
  await showDone({ typed: given, done: deleted, failed }, sshKeyView, context);
}

function question(names: readonly string[]): string {
  if (names.length === 0) return 'Delete the SSH keys listed on stdin?';
  const keys = names.length === 1 ? 'key' : 'keys';
  return `Delete the SSH ${keys} ${names.join(' and ')} from the account? Existing instances keep the ${keys}.`;
}

function describe({ name, id, fingerprint }: SshKey): string {
  return `${name ?? id} (${fingerprint ?? id})`;
}
