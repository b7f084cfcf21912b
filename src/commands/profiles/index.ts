import { confirm } from '../../command-line/confirm.ts';
import type { Group } from '../../command-line/group.ts';
import { checked, oneOf, ruled } from '../../command-line/parse.ts';
import { unlessNoted } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import {
  keyFields,
  keyPlace,
  type Profile,
  profileName,
  profileNames,
  profileOf,
  SANDBOX,
  withoutProfile,
  withProfile,
} from '../../config/file.ts';
import { dropKey, keepKey } from '../../config/keep-key.ts';
import { refuseExposedConfig } from '../../context/settings.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { disarm } from '../../instances/deadlines/arm.ts';
import { warnOfUnenforcedDeadlines } from '../../instances/deadlines/unenforced.ts';
import { maybeRunning } from '../../instances/other-accounts.ts';
import type { ShownProfile } from '../../json-results/local.ts';
import { shellLine } from '../../output/shell-line.ts';
import { baseUrl } from '../../rules/service.ts';
import {
  activeProfile,
  addressOf,
  brokenBaseUrl,
  existingProfile,
  givenBaseUrl,
  keptText,
  namedProfile,
  profileView,
  shownProfile,
  warnOfEnvironment,
} from './profile.ts';
import { set } from './set.ts';

const NAME = ['<name>', 'the profile'] as const;
const COMPLETES = { name: 'profile' } as const;

export const profiles: Group = {
  verbs: {
    list: verb({
      aliases: ['ls'],
      summary: 'List profiles',
      view: profileView,
      notes:
        'ACTIVE marks the profile that commands use: from --profile, GPUCLOUD_PROFILE or ' +
        '"gpucloud profiles use", in this order.',
      examples: ['gpucloud profiles list', 'gpucloud profiles list --json'],
      takes: (command) => command,
      async run(context) {
        const file = await (await context.config()).read();
        const rows = profileNames(file).map((name) => shownProfile(file, name, context));
        await context.out.list(rows, profileView);
        const active = activeProfile(context, file);
        if (active instanceof CliError) {
          context.err.warn('settings', `No profile is active, so commands fail: ${active.message}`);
        } else {
          warnOfEnvironment(file.current ?? '', file, context);
        }
      },
    }),
    get: verb({
      aliases: ['show'],
      summary: 'Show a profile without its key',
      view: profileView,
      completes: COMPLETES,
      examples: ['gpucloud profiles get', 'gpucloud profiles get work --json'],
      takes: (command) => command.argument('[name]', 'profile (default: the active one)'),
      async run(context, typed) {
        const file = await (await context.config()).read();
        const name = typed ?? namedProfile(context)?.name ?? file.current;
        if (name === undefined) {
          throw new CliError('notFound', 'No profile is active.', {
            hint: 'sign in with "gpucloud login", or try "gpucloud profiles use sandbox"',
          });
        }
        await context.out.item(shownProfile(file, name, context), profileView);
      },
    }),
    use: verb({
      summary: 'Set the active profile',
      view: profileView,
      notes: '--profile and GPUCLOUD_PROFILE override it.',
      completes: COMPLETES,
      examples: ['gpucloud profiles use work', 'gpucloud profiles use sandbox'],
      takes: (command) => command.argument(...NAME),
      async run(context, name) {
        const after = await (await context.config()).change((file) => {
          // Checks under the lock, so that a profile removed at the same time can't be selected.
          shownProfile(file, name, context);
          return { ...file, current: name };
        });
        const profile = shownProfile(after, name, context);
        context.err.note(
          name === SANDBOX
            ? "Switched to the sandbox: commands are free and don't contact a service."
            : `Switched to the profile "${name}".`,
        );
        if (name !== SANDBOX && !profile.has_key) {
          context.err.note(`The profile has no key yet: gpucloud login --profile ${name}`);
        }
        warnOfEnvironment(name, after, context);
        await unlessNoted(context, () => context.out.item(profile, profileView));
      },
    }),
    add: verb({
      summary: 'Add a profile without a key',
      view: profileView,
      notes: 'Set the base URL with --base-url or GPUCLOUD_BASE_URL. "gpucloud login" adds a key.',
      completes: { name: 'nothing' },
      examples: ['gpucloud profiles add work --base-url https://api.example.com'],
      takes: (command) =>
        command.argument(
          '<name>',
          'profile name: at most 50 letters, digits, ".", "_" and "-"',
          ruled('NAME', profileName),
        ),
      run: (context, name) => addProfile(name, context),
    }),
    set: () => set,
    move: verb({
      summary: 'Move a key to the system keyring or the config file',
      view: profileView,
      notes:
        'Does not change the key. To use a password manager, run "gpucloud login ' +
        '--key-command COMMAND".',
      completes: COMPLETES,
      examples: [
        'gpucloud profiles move work --to keyring',
        'gpucloud profiles move work --to file',
      ],
      takes: (command) =>
        command
          .argument(...NAME)
          .option('--to <place>', 'keyring or file', oneOf('--to', ['keyring', 'file'])),
      run: (context, name, { to }) => moveKey(name, to, context),
    }),
    remove: verb({
      aliases: ['rm'],
      summary: 'Remove a profile and its key',
      view: profileView,
      notes:
        "Instances keep running and billing. The key still works: the API can't revoke " +
        'keys. Also removes the schedule of "instances reap".',
      completes: COMPLETES,
      examples: ['gpucloud profiles remove work', 'gpucloud profiles rm work --yes'],
      takes: (command) => command.argument(...NAME),
      run: (context, name) => removeProfile(name, context),
    }),
  },
  examples: [
    'gpucloud profiles list',
    'gpucloud profiles get',
    'gpucloud profiles use work',
    'gpucloud profiles add work --base-url https://api.example.com',
  ],
};

async function addProfile(name: string, context: Context): Promise<void> {
  const address = givenBaseUrl(context) ?? (await askBaseUrl(context));
  const after = await (await context.config()).change((file) => {
    const there = profileOf(file, name);
    if (there === undefined) return withProfile(file, name, { base_url: address });
    if (addressOf(there) === address) return file;
    // A new address would not match the stored key.
    throw usageError(
      `NAME "${name}": this profile already exists with the base URL ${there.base_url}`,
      `change the base URL: gpucloud login --profile ${name} --base-url ${address}`,
    );
  });
  const profile = shownProfile(after, name, context);
  context.err.note(
    profile.has_key
      ? `The profile "${name}" already exists with this base URL and a key.`
      : `The profile "${name}" has no key yet: gpucloud login --profile ${name}`,
  );
  await unlessNoted(context, () => context.out.item(profile, profileView));
}

async function askBaseUrl(context: Context): Promise<string> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError('--base-url (or GPUCLOUD_BASE_URL) is missing');
  }
  const text = await prompts.text(
    'Base URL of the service (--base-url), such as https://api.example.com/v1',
    { check: brokenBaseUrl },
  );
  return checked('--base-url', text.trim(), baseUrl);
}

async function moveKey(
  name: string,
  to: 'keyring' | 'file' | undefined,
  context: Context,
): Promise<void> {
  if (to === undefined) throw usageError('--to is missing: use keyring or file');
  const config = await context.config();
  const file = await config.read();
  const shown = shownProfile(file, name, context);
  const place = keyPlace(profileOf(file, name));
  if (place === undefined) {
    throw new CliError('notFound', `The profile "${name}" has no key to move.`, {
      hint: `gpucloud login --profile ${name}`,
      resource: name,
    });
  }
  if (place.kind === to) {
    context.err.note(
      `The key of profile "${name}" is already in the ${to === 'file' ? 'config file' : 'system keyring'}.`,
    );
    await unlessNoted(context, () => context.out.item(shown, profileView));
    return;
  }
  refuseExposedConfig(config.path, context.host.uid);
  const key = await (await context.keys()).read(name, place);
  const kept = await keepKey(
    { profile: name, key, store: to },
    (now, next) => {
      const there = profileOf(now, name);
      if (there === undefined) throw usageError(`NAME "${name}": this profile was removed`);
      const { base_url, account } = there;
      const profile = { base_url, ...(account === undefined ? {} : { account }) };
      return withProfile(now, name, { ...profile, ...keyFields(next) });
    },
    context,
  );
  context.err.note(keptText(kept, config.path));
  await unlessNoted(context, () =>
    context.out.item(shownProfile(kept.file, name, context), profileView),
  );
}

async function removeProfile(name: string, context: Context): Promise<void> {
  const { err, out } = context;
  if (name.toLowerCase() === SANDBOX) {
    throw usageError(
      `NAME "${name}": the profile "sandbox" is built in, so it can't be added or removed`,
      'run gpucloud sandbox reset to clear the sandbox',
    );
  }
  const file = await (await context.config()).read();
  const profile = shownProfile(file, name, context);
  if (profile.has_key) await warnOfRunning(existingProfile(file, name), name, context);
  await confirm(context, questionOf(profile));
  // Removes the schedule first: without the profile, no command could remove it.
  await disarm(name, context);
  await dropKey(name, (file) => withoutProfile(file, name), context);
  err.note(`Removed the profile "${name}".`);
  const { base_url: service, account } = existingProfile(file, name);
  const scope = { service, account: account?.id };
  await warnOfUnenforcedDeadlines(scope, () => context.journalOf(scope), context);
  if (profile.has_key) {
    err.note("Its key still works: the API can't revoke keys.");
  }
  if (profile.active) {
    err.note('No profile is active now. Choose one: gpucloud profiles use NAME');
  }
  const gone = { ...profile, has_key: false, key_in: null, active: false };
  await unlessNoted(context, () => out.item(gone, profileView));
}

/** Warns about instances that this computer can't terminate without the key. */
async function warnOfRunning(
  { base_url, account }: Profile,
  name: string,
  context: Context,
): Promise<void> {
  const scope = { service: base_url, account: account?.id };
  const running = await maybeRunning(() => context.journalOf(scope));
  if (running.length === 0) return;
  // With --yes, the profile is gone by the time a person reads this.
  const next = context.flags.yes
    ? `To terminate them, sign in with its key again: ${shellLine(['gpucloud', 'login', '--profile', name, '--base-url', base_url])}`
    : `To terminate them: ${shellLine(['gpucloud', 'instances', 'terminate', ...running, '--profile', name])}`;
  context.err.warn(
    'may_be_billing',
    `Removing a profile doesn't terminate instances. These instances may still be billing: ${running.join(', ')}. ${next}`,
  );
}

function questionOf({ name, has_key, base_url }: ShownProfile): string {
  const what = has_key ? 'and its key' : '(it has no key)';
  return `Remove the profile "${name}" for ${base_url} ${what}?`;
}
