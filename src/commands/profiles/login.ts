import type { User } from '../../api/index.ts';
import { Option } from '../../command-line/command.ts';
import { confirm } from '../../command-line/confirm.ts';
import { checked, oneOf, ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import {
  type ConfigFile,
  keyFields,
  keyPlace,
  type Profile,
  profileName,
  profileOf,
  SANDBOX,
  STORES,
  samePlace,
  withProfile,
} from '../../config/file.ts';
import { keepKey } from '../../config/keep-key.ts';
import { refuseExposedConfig } from '../../context/settings.ts';
import type { Context, ServiceAddress } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import {
  accountLeft,
  learnKey,
  leavingQuestion,
  replacingQuestion,
  warnOfLeft,
} from '../../instances/accounts.ts';
import { gpucloud, shellLine } from '../../output/shell-line.ts';
import { commandWords } from '../../rules/command-words.ts';
import { roublesText } from '../../rules/money.ts';
import {
  addressOf,
  givenBaseUrl,
  keptText,
  namedProfile,
  profileView,
  shownProfile,
  warnOfEnvironment,
} from './profile.ts';
import { type KeySource, proveKey } from './prove-key.ts';

export const login = verb({
  summary: 'Sign in with an API key',
  view: profileView,
  notes:
    'Prompts for missing values. Checks the key with the service before saving it. Asks before ' +
    'replacing another saved key.\n\n' +
    'Saves the key in the system keyring if available (needs the optional package ' +
    "@napi-rs/keyring), otherwise in a file with mode 0600. --key-command doesn't save the key: each " +
    'command runs your password manager and reads the first line of its output.',
  completes: { '--key-command': 'nothing' },
  examples: [
    'gpucloud login --base-url https://api.example.com',
    'gpucloud login --profile work --key-file ./key.txt',
    'gpucloud login --key-command "pass show gpucloud"',
    'pass show gpucloud | gpucloud login --key-stdin',
  ],
  takes: (command) =>
    command
      .option('--key-stdin', 'read the key from stdin')
      .addOption(new Option('--key-file <file>', 'read the key from a file').conflicts('keyStdin'))
      .addOption(
        new Option('--key-command <command>', 'read the key from this command, run without a shell')
          .argParser(ruled('--key-command', commandWords))
          .conflicts(['keyStdin', 'keyFile']),
      )
      .option(
        '--store <place>',
        `where to save the key: ${STORES.join(', ')}`,
        oneOf('--store', STORES),
      )
      .addOption(refused('--key'))
      .addOption(refused('--api-key'))
      .allowExcessArguments(),
  async run(context, { keyStdin, keyFile, keyCommand, store }, { args }) {
    if (args.length > 0) throw keyOnCommandLine('login takes no arguments');
    if (store !== undefined && (store === 'command') !== (keyCommand !== undefined)) {
      const how = keyCommand === undefined ? 'needs' : "can't be used with";
      throw usageError(`--store ${store} ${how} --key-command COMMAND`);
    }
    await signIn({ keyStdin: keyStdin === true, keyFile, keyCommand, store }, context);
  },
});

/** Rejects a flag that people try, without printing its value. */
function refused(flag: string) {
  return new Option(`${flag} <key>`).hideHelp().argParser((): never => {
    throw keyOnCommandLine(flag);
  });
}

function keyOnCommandLine(what: string) {
  return usageError(
    `${what}: can't pass a key on the command line, since other programs and the shell's history can see it`,
    'use --key-stdin, --key-file FILE or --key-command COMMAND; select a profile with --profile NAME',
  );
}

/**
 * Checks a key with GET /users/me (API document: Endpoints), then saves it with its address and
 * account as the active profile. If the check fails, no settings change.
 */
export async function signIn(source: KeySource, context: Context): Promise<void> {
  const { err, out } = context;
  const config = await context.config();
  // Reads the file first, so that nobody types a key before learning that the file is unusable.
  const before = await config.read();
  refuseExposedConfig(config.path, context.host.uid);
  const given = givenBaseUrl(context);
  const name = nameFor(before, given, context);
  const profile = profileOf(before, name);
  const known = given ?? addressOf(profile);
  const ask = confirmOnce(await replacingQuestion(name, profile, given, context), context);
  const { address, user } = await proveKey(
    source,
    { profile: name, known },
    context,
    async (found) => {
      if (!(await isStored(found, source, name, profile, context))) await ask();
    },
  );
  const next = { service: address.baseUrl, account: user.id };
  const left = await accountLeft(name, before, next, context);
  const leaving = left && leavingQuestion(left);
  if (leaving !== undefined) await confirm(context, leaving);
  const kept = await keepKey(
    { profile: name, key: address.apiKey, store: source.store, command: source.keyCommand },
    (file, place) => ({
      ...withProfile(file, name, {
        base_url: address.baseUrl,
        ...keyFields(place),
        account: { id: user.id, email: user.email ?? null, name: user.name ?? null },
      }),
      current: name,
    }),
    context,
  );
  await learnKey(address, user.id, context);
  if (left !== undefined) await warnOfLeft(left, context);
  err.note(`Signed in at ${address.baseUrl} as ${accountText(user)}.`);
  err.note(keptText(kept, config.path));
  const { current } = before;
  if (current !== undefined && current !== name) {
    // Without --profile, since the command selects a profile itself.
    const back = shellLine(['gpucloud', 'profiles', 'use', current]);
    err.note(`Switched from the profile "${current}" to "${name}". To switch back: ${back}`);
  }
  if (user.is_active === false) {
    err.warn('account_blocked', 'This account is blocked.');
  }
  warnOfEnvironment(name, kept.file, context);
  // Omits the other fields for people, since the notes already show them.
  if (out.people && out.terminal) {
    // The environment may select another one; a warning says so.
    if ((context.env.GPUCLOUD_PROFILE || name) === name) err.note(`Active profile: ${name}`);
    err.note(`Rent an instance: ${gpucloud('instances', 'create')}`);
  } else await out.item(shownProfile(kept.file, name, context), profileView);
}

/** Asks for consent only once, since typing the key may take several attempts. */
function confirmOnce(question: string | undefined, context: Context): () => Promise<void> {
  let isAsked = question === undefined;
  return async () => {
    if (!isAsked) await confirm(context, question ?? '');
    isAsked = true;
  };
}

/** Whether the profile already has this key, so that nothing would be replaced. */
async function isStored(
  { baseUrl, apiKey }: ServiceAddress,
  { keyCommand }: KeySource,
  name: string,
  profile: Profile | undefined,
  context: Context,
): Promise<boolean> {
  const place = keyPlace(profile);
  if (place === undefined || profile?.base_url !== baseUrl) return false;
  if (place.kind === 'command')
    return samePlace(place, { kind: 'command', argv: keyCommand ?? [] });
  try {
    return (await (await context.keys()).read(name, place)) === apiKey;
  } catch (error) {
    // A key in an unreadable keyring may be replaced.
    if (error instanceof CliError && error.failure === 'authentication') return false;
    throw error;
  }
}

/**
 * Chooses the profile for a login without a name: the active profile if it belongs to this service.
 * Otherwise chooses `default`, so that another service's key is kept.
 */
function nameFor(file: ConfigFile, given: string | undefined, context: Context): string {
  const named = namedProfile(context);
  if (named?.name.toLowerCase() === SANDBOX) {
    throw usageError(
      `${named.origin} "${named.name}": the sandbox doesn't need a key`,
      named.origin === 'GPUCLOUD_PROFILE'
        ? 'unset GPUCLOUD_PROFILE, or choose a profile: gpucloud login --profile NAME'
        : 'use the sandbox: gpucloud profiles use sandbox',
    );
  }
  if (named !== undefined) return checked(named.origin, named.name, profileName);
  const { current } = file;
  const profile = current === undefined ? undefined : profileOf(file, current);
  const isSameService = given === undefined || given === addressOf(profile);
  return current !== undefined && profile !== undefined && isSameService ? current : 'default';
}

function accountText({ email, name, id, balance }: User): string {
  const who = email ?? name ?? id;
  return balance == null ? who : `${who} (balance ${roublesText(balance)})`;
}
