import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sentence } from '../../api/errors.ts';
import type { ApiKey, RawResponse } from '../../api/index.ts';
import { Option } from '../../command-line/command.ts';
import { confirm } from '../../command-line/confirm.ts';
import { refuseLostSecret, sendOnce, writeSecret } from '../../command-line/creation.ts';
import { checked, refuseSecret } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import {
  type ConfigFile,
  keyFields,
  keyPlace,
  type Profile,
  profileName,
  profileOf,
  SANDBOX,
  samePlace,
  withProfile,
} from '../../config/file.ts';
import { keepKey } from '../../config/keep-key.ts';
import { refuseExposedConfig } from '../../context/settings.ts';
import type { Context } from '../../context.ts';
import { asCliError, CliError, usageError } from '../../errors.ts';
import {
  accountLeft,
  learnKey,
  leavingQuestion,
  replacingQuestion,
  warnOfLeft,
} from '../../instances/accounts.ts';
import { checkColumns } from '../../output/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { apiKeyName } from '../../rules/names.ts';
import { apiKey } from '../../rules/service.ts';
import { faultOf } from '../../system/error-code.ts';
import { syncFolder } from '../../system/files.ts';
import { keyView, newKeyView } from './view.ts';

export const create = verb({
  summary: 'Create an API key and print its secret once',
  notes:
    'Prints only the secret to stdout, once. JSON and the other formats include it as ' +
    '"secret_key". --key-file and --save-profile save the secret instead of printing it. The ' +
    "API can't revoke keys.",
  completes: { name: 'nothing', '--save-profile': 'profile' },
  examples: [
    'KEY=$(gpucloud api-keys create ci)',
    'gpucloud api-keys create ci --key-file ./ci.key',
    'gpucloud api-keys create laptop --save-profile work',
  ],
  takes: (command) =>
    command
      .argument('<name>', 'key name, at most 50 characters')
      .option('--key-file <path>', 'save the secret to a new file (mode 0600)')
      .addOption(
        new Option(
          '--save-profile <profile>',
          'save the secret in a profile, with the current base URL',
        ).conflicts('keyFile'),
      ),
  async run(context, name, flags) {
    refuseSecret('NAME', name);
    checked('NAME', name, apiKeyName);
    const isKept = flags.keyFile !== undefined || flags.saveProfile !== undefined;
    checkColumns(isKept ? keyView : newKeyView, context.flags);
    if (!isKept) refuseLosing(context);
    // Prepares the destination first, so that a bad path or profile creates no key.
    const place = await placeFor(flags, context);
    let created: Created;
    try {
      created = await requestKey(name, context);
    } catch (error) {
      await place?.drop();
      throw error;
    }
    await (place === undefined ? show(created, context) : keep(created, place, context));
  },
});

/** Refuses an output in which the secret would be lost for good. */
function refuseLosing(context: Context): void {
  const { out, flags } = context;
  const hint = 'save the secret with --key-file or --save-profile';
  refuseLostSecret(context, hint);
  const lossy =
    out.format === 'id'
      ? '--quiet'
      : flags.columns?.includes('secret_key') === false
        ? '--columns without secret_key'
        : flags.query !== undefined && '--query';
  if (lossy) {
    throw usageError(`${lossy}: the secret is shown only once and would be lost`, hint);
  }
}

async function placeFor(
  { keyFile, saveProfile }: { keyFile?: string | undefined; saveProfile?: string | undefined },
  context: Context,
): Promise<Place | undefined> {
  if (saveProfile !== undefined) return profilePlace(saveProfile, context);
  // Loads the settings first, so that a missing API key leaves no empty file behind.
  await context.api();
  return keyFile === undefined ? undefined : reservedFile(keyFile);
}

/** A created key with its secret, which no other response contains. */
interface NewKey extends Partial<ApiKey> {
  readonly secret_key: string;
}

interface Created {
  readonly key: NewKey;
  /** Why the rest of the response is unusable. */
  readonly fault: CliError | undefined;
}

/**
 * Requests the key. Takes the secret from the raw response, so that an odd response can't lose it.
 * Throws the request's error, or CliError('notUnderstood') if the response has no usable secret.
 */
async function requestKey(name: string, context: Context): Promise<Created> {
  const api = await context.api();
  let secret: string | undefined;
  const onResponse = async ({ text }: RawResponse) => {
    secret = secretIn(text);
  };
  let key: ApiKey;
  try {
    key = await sendOnce({ what: `API key ${name}`, bills: false }, context, (options) =>
      api.apiKeys.create({ name }, { ...options, onResponse }),
    );
  } catch (thrown) {
    const error = asCliError(thrown);
    if (secret !== undefined) return { key: { name, secret_key: secret }, fault: error };
    throw error.failure === 'outcomeUnknown'
      ? error.with(`${error.message} Its secret is lost.`)
      : error;
  }
  if (secret !== undefined) {
    const verdict = apiKey(secret);
    const fault = verdict.ok
      ? undefined
      : new CliError(
          'notUnderstood',
          `Created API key ${labelOf(key)}, but gpucloud can't use its secret: an API key ${verdict.rule}.`,
          { resource: key.id },
        );
    return { key: { ...key, secret_key: secret }, fault };
  }
  throw new CliError(
    'notUnderstood',
    `Created API key ${labelOf(key)}, but the response has no usable secret_key. The secret is lost.`,
    { hint: `create another key: ${gpucloud('api-keys', 'create', 'NAME')}`, resource: key.id },
  );
}

/** Finds the secret in a response of any shape, even if the response is incomplete. */
function secretIn(text: string): string | undefined {
  const [, quoted] = /"secret_key"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  if (quoted === undefined) return undefined;
  try {
    // JSON allows no line break in a text, but a service may send one after the secret.
    const secret = String(JSON.parse(quoted.replace(/[\r\n\t]+/g, ' '))).trim();
    return secret === '' ? undefined : secret;
  } catch {
    return undefined;
  }
}

function labelOf({ name, id }: Partial<ApiKey>): string {
  if (id === undefined) return name ?? '(unknown ID)';
  return name == null ? id : `${name} (${id})`;
}

async function keep({ key, fault }: Created, place: Place, context: Context): Promise<void> {
  const { secret_key: secret, ...shown } = key;
  try {
    await place.keep(secret);
  } catch (error) {
    await print(key, context);
    throw new CliError(
      'storage',
      `Created API key ${labelOf(key)}, but: ${sentence(asCliError(error).message)} The secret is only on stdout.`,
      { hint: "save it now: it can't be shown again", resource: key.id },
    );
  }
  if (fault !== undefined) throw odd(fault, `saved in ${place.where}`);
  context.err.note(`Created API key ${labelOf(key)}. Its secret is saved in ${place.where}.`);
  await context.out.item({ ...shown, in_use: false }, keyView);
}

async function show({ key, fault }: Created, context: Context): Promise<void> {
  await print(key, context);
  if (fault !== undefined) throw odd(fault, 'on stdout');
  context.err.note(
    `Created API key ${labelOf(key)}. Save the secret now: it can't be shown again.`,
  );
}

/** Adds to an error where the secret of its response is. */
function odd(fault: CliError, where: string): CliError {
  return fault.with(
    `${sentence(fault.message)} The response contains the secret of a new key, which is ${where}.`,
    { hint: `check the key: ${gpucloud('api-keys', 'list')}` },
  );
}

/** Prints only the secret to people and to `$(…)`. Other formats print the secret as a field. */
async function print(key: NewKey, context: Context): Promise<void> {
  const { out, flags } = context;
  await writeSecret({ label: labelOf(key), id: key.id }, context, () =>
    out.format === 'table' && flags.columns === undefined
      ? out.text(`${key.secret_key}\n`)
      : out.item({ ...key, in_use: false }, newKeyView),
  );
}

/** A destination for a new key's secret, prepared before the request. */
interface Place {
  /** Completes "Its secret is saved in …". */
  readonly where: string;
  /** Stores the secret. Throws CliError('storage') if that fails. */
  keep(secret: string): Promise<void>;
  /** Removes the prepared destination if there is no secret to store. */
  drop(): Promise<void>;
}

/** Faults of the path itself. Any other code means a disk fault. */
const WRONG_PATH: Readonly<Record<string, string>> = {
  EEXIST: 'the file already exists',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'part of the path is not a folder',
  EISDIR: 'the path is a folder',
};

/** Creates an empty file with mode 0600. Never changes an existing file. */
async function reservedFile(path: string): Promise<Place> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    const code = faultOf(error);
    const wrong = path === '' ? 'must not be empty' : WRONG_PATH[code];
    throw wrong === undefined
      ? new CliError(
          'storage',
          `--key-file "${path}": could not create the file (${code}). No key created.`,
        )
      : usageError(`--key-file "${path}": ${wrong}`);
  });
  async function drop(): Promise<void> {
    await handle.close();
    await rm(path, { force: true });
  }
  return {
    where: `${path} (mode 0600)`,
    drop,
    async keep(secret) {
      try {
        await handle.writeFile(`${secret}\n`);
        await handle.sync();
        await handle.close();
        syncFolder(dirname(path));
      } catch (error) {
        await drop().catch(() => undefined);
        throw new CliError('storage', `could not write ${path} (${faultOf(error)})`, {
          cause: error,
        });
      }
    },
  };
}

/**
 * Prepares to store the new key in a profile, with the address and account of the requesting key.
 * Asks before replacing a stored key or address.
 */
async function profilePlace(name: string, context: Context): Promise<Place> {
  checked('--save-profile', name, profileName);
  const { sandbox, baseUrl } = await context.settings();
  if (sandbox || baseUrl === undefined) {
    throw usageError(
      `--save-profile "${name}": the ${SANDBOX} uses its built-in service and doesn't need a key in a profile`,
    );
  }
  const config = await context.config();
  const file = await config.read();
  refuseExposedConfig(config.path, context.host.uid);
  const before = profileOf(file, name);
  const question = await replacingQuestion(name, before, baseUrl.value, context);
  if (question !== undefined) await confirm(context, question);
  // Asks the service, since another key may have replaced the profile's key without a login.
  const owner = await accountOf(context);
  const next = { service: baseUrl.value, account: owner.id };
  const left = await accountLeft(name, file, next, context);
  const leaving = left && leavingQuestion(left);
  if (leaving !== undefined) await confirm(context, leaving);
  return {
    where: `the profile "${name}" (use it with --profile ${name})`,
    async keep(secret) {
      const verdict = apiKey(secret);
      if (!verdict.ok) throw new CliError('storage', `a key in a profile ${verdict.rule}`);
      await keepKey(
        { profile: name, key: secret, store: undefined },
        (now, place) => {
          refuseChanged(now, name, before);
          const kept = { base_url: baseUrl.value, ...keyFields(place), account: owner };
          return withProfile(now, name, kept);
        },
        context,
      );
      await learnKey({ baseUrl: baseUrl.value, apiKey: secret }, owner.id, context);
      if (left !== undefined) await warnOfLeft(left, context);
    },
    async drop() {},
  };
}

async function accountOf(context: Context): Promise<NonNullable<Profile['account']>> {
  const { id, email, name } = await (await context.api()).users.me();
  return { id, email: email ?? null, name: name ?? null };
}

/** Throws if the profile's key or address changed after the prompt. Runs under the file's lock. */
function refuseChanged(file: ConfigFile, name: string, before: Profile | undefined): void {
  const now = profileOf(file, name);
  if (now?.base_url !== before?.base_url || !samePlace(keyPlace(now), keyPlace(before))) {
    throw new CliError('storage', `another program changed the profile "${name}"`);
  }
}
