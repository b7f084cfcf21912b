import type { SetPasswordBody, User } from '../../api/index.ts';
import type { Group } from '../../command-line/group.ts';
import { readStdin } from '../../command-line/input.ts';
import { brokenBy, ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { field, type View } from '../../output/output.ts';
import { anyName } from '../../rules/names.ts';
import { SECRETS } from '../../rules/secrets.ts';

/**
 * Views an account. `balance` is the wallet balance in GET /users/me, but the available funds in
 * the response to an update. Only that response has reserved and total funds (API document: User).
 */
function viewOf(balance: string): View<User> {
  return {
    columns: [
      field('name', 'NAME'),
      field('email', 'EMAIL'),
      field('role', 'ROLE'),
      field('balance', balance, { kind: 'money' }),
      field('reserved_balance', 'RESERVED', { kind: 'money', hidden: true }),
      field('total_balance', 'TOTAL', { kind: 'money', hidden: true }),
      field('id', 'ID', { hidden: true }),
      field('is_active', 'ACTIVE', { kind: 'yes', hidden: true }),
      field('is_email_verified', 'EMAIL VERIFIED', { kind: 'yes', hidden: true }),
      field('has_password', 'PASSWORD', { kind: 'yes', hidden: true }),
      field('notify_billing', 'BILLING MAIL', { kind: 'yes', hidden: true }),
      field('notify_marketing', 'NEWS MAIL', { kind: 'yes', hidden: true }),
      field('yandex_id', 'YANDEX', { hidden: true }),
      field('github_id', 'GITHUB', { hidden: true }),
      field('verified_at', 'VERIFIED AT', { kind: 'time', hidden: true }),
      field('last_login_at', 'LAST LOGIN', { kind: 'time', hidden: true }),
      field('created_at', 'CREATED', { kind: 'time', hidden: true }),
      field('updated_at', 'UPDATED', { kind: 'time', hidden: true }),
    ],
    id: (user) => user.id,
    empty: 'No profile.',
    secrets: SECRETS.user,
  };
}

export const profileView = viewOf('WALLET BALANCE');

/** The response to `PATCH /users/me`. */
const updatedView = viewOf('AVAILABLE');

export const me: Group = {
  verbs: {
    get: verb({
      aliases: ['show'],
      summary: 'Show the account of the API key',
      tool: { allow: 'read' },
      view: profileView,
      examples: ['gpucloud me get', 'gpucloud me get --json | jq -r .email'],
      takes: (command) => command,
      async run(context) {
        await context.out.item(await (await context.api()).users.me(), profileView);
      },
    }),
    update: verb({
      summary: 'Change the account name',
      tool: { allow: 'all', idempotent: true },
      view: updatedView,
      notes: 'Also prints available and reserved funds.',
      completes: { '--name': 'nothing' },
      examples: ['gpucloud me update --name "Ann Lee"'],
      takes: (command) => command.option('--name <name>', 'new name', ruled('--name', anyName)),
      run: (context, { name }) => update(name, context),
    }),
    'set-password': verb({
      summary: 'Change the account password',
      view: profileView,
      notes:
        'Prompts for the current password and twice for the new one. With --stdin, reads the ' +
        'current and the new password from two lines.',
      completes: { words: 'nothing' },
      examples: [
        'gpucloud me set-password',
        'printf "%s\\n%s\\n" "$OLD" "$NEW" | gpucloud me set-password --stdin',
      ],
      takes: (command) =>
        command
          .option('--stdin', 'read the current and the new password from stdin, one per line')
          .usage('[options]')
          // Declares words only to reject them: commander would print them in its own error.
          .argument('[words...]', "refused: can't pass a password on the command line")
          .allowUnknownOption(),
      run(context, words, { stdin }) {
        if (words.length > 0) {
          throw usageError(
            'set-password does not accept passwords on the command line: omit the password to be prompted, or use --stdin (value hidden)',
          );
        }
        return setPassword(stdin === true, context);
      },
    }),
  },
  examples: ['gpucloud me get', 'gpucloud me update --name "Ann Lee"', 'gpucloud me set-password'],
};

export async function update(given: string | undefined, context: Context): Promise<void> {
  const name = given ?? (await askName(context));
  const user = await (await context.api()).users.update({ name });
  context.err.note(`Account name changed to ${user.name ?? name}.`);
  await context.out.item(user, updatedView);
}

async function askName(context: Context): Promise<string> {
  const prompts = await context.prompts();
  if (prompts === undefined) throw usageError('nothing to change: add --name');
  return prompts.text('New name?', { check: brokenBy(anyName) });
}

export async function setPassword(fromStdin: boolean, context: Context): Promise<void> {
  const body = fromStdin ? await readPasswords(context) : await askPasswords(context);
  const user = await (await context.api()).users.setPassword(body);
  context.err.note('Password changed.');
  await context.out.item(user, profileView);
}

/** The document has no strength rules, so the service checks the new password. */
const emptyRule = brokenBy(anyName);

async function askPasswords(context: Context): Promise<SetPasswordBody> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(
      'not interactive: use --stdin with two lines, the current password and the new one',
    );
  }
  const current = await prompts.secret('Current password?', emptyRule);
  const next = await prompts.secret('New password?', emptyRule);
  await prompts.secret('Confirm the new password?', (text) =>
    text === next ? undefined : 'the passwords do not match',
  );
  return { current_password: current, new_password: next };
}

async function readPasswords(context: Context): Promise<SetPasswordBody> {
  if (context.stdin.isTTY === true) {
    throw usageError('--stdin needs a pipe or a file; omit the flag to be prompted');
  }
  const text = await readStdin('--stdin', context);
  const [current, next, ...others] = text.replace(/\r?\n$/, '').split(/\r?\n/);
  if (current === undefined || next === undefined || others.length > 0) {
    throw usageError('--stdin: must be two lines, the current and the new password (input hidden)');
  }
  const rule = emptyRule(current) ?? emptyRule(next);
  if (rule !== undefined) throw usageError(`--stdin: ${rule}`);
  return { current_password: current, new_password: next };
}
