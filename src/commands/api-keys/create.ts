import type { ApiKey } from '../../api/index.ts';
import { refuseLostSecret, sendOnce, writeSecret } from '../../cli/creation.ts';
import { checked, refuseSecret } from '../../cli/parse.ts';
import { verb } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { checkColumns } from '../../output/index.ts';
import { apiKeyName } from '../../rules/names.ts';
import { apiKey } from '../../rules/service.ts';
import { type Place, profilePlace, reservedFile } from './places.ts';
import { keyView, newKeyView } from './view.ts';

export const create = verb('create', {
  summary: 'Create an API key and print its secret once',
  notes:
    'Prints only the secret to stdout, once; other formats have it in "secret_key". With ' +
    '--key-file or --save-profile, the secret is saved there and not printed. The API has ' +
    'no way to revoke a key.',
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
      .option('--save-profile <profile>', 'save it in a profile, with the current base URL'),
  async run(context, typed, flags) {
    refuseSecret('NAME', typed);
    const name = checked('NAME', typed, apiKeyName);
    const isKept = flags.keyFile !== undefined || flags.saveProfile !== undefined;
    checkColumns(isKept ? keyView : newKeyView, context.flags);
    if (!isKept) refuseLosing(context);
    // Prepare the place first, so that a bad path or profile costs no key.
    const place = await placeFor(flags, context);
    let created: NewKey;
    try {
      created = await requestKey(name, context);
    } catch (error) {
      await place?.drop();
      throw error;
    }
    await (place === undefined ? show(created, context) : keep(created, place, context));
    if (created.fault !== undefined) throw created.fault;
  },
});

/** Refuses an output that would lose the secret for good. */
function refuseLosing(context: Context): void {
  const { out, flags } = context;
  const hint = 'save it with --key-file or --save-profile';
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
  if (keyFile !== undefined && saveProfile !== undefined) {
    throw usageError("--key-file and --save-profile can't be used together");
  }
  if (saveProfile !== undefined) return profilePlace(saveProfile, context);
  // Without a login, leave no empty file behind.
  await context.api();
  return keyFile === undefined ? undefined : reservedFile(keyFile);
}

/** A created key and its secret, which no other response contains. */
interface NewKey {
  /** Its name for messages, with its ID if known. */
  readonly label: string;
  /** The fields in the response. */
  readonly key: Partial<ApiKey>;
  readonly secret: string;
  /** The error to throw if the response contained the secret but was otherwise unusable. */
  readonly fault?: CliError;
}

/** Throws what the request throws, and CliError('notUnderstood') without a usable secret. */
async function requestKey(name: string, context: Context): Promise<NewKey> {
  const api = await context.api();
  let seen: string | undefined;
  let key: ApiKey;
  try {
    key = await sendOnce({ what: `the API key ${name}`, bills: false }, context, (options) =>
      api.apiKeys.create(
        { name },
        {
          ...options,
          async onResponse({ status, text }) {
            if (status >= 200 && status < 300) seen = secretIn(text);
          },
        },
      ),
    );
  } catch (error) {
    if (seen === undefined || !(error instanceof CliError)) throw error;
    const fault = new CliError(
      'notUnderstood',
      `The API key ${name} was created, but the rest of the response could not be used: ${error.message}`,
      { hint: 'see the key: gpucloud api-keys list', cause: error },
    );
    return { label: name, key: { name }, secret: seen, fault };
  }
  const label = `${name} (${key.id})`;
  const secret = key.secret_key ?? '';
  if (apiKey(secret).ok) return { label, key, secret };
  throw new CliError(
    'notUnderstood',
    `The API key ${label} was created, but the response has no usable secret_key. Its secret is lost.`,
    { hint: 'create another key: gpucloud api-keys create NAME', resource: key.id },
  );
}

/** Extracts the secret from a response that is broken elsewhere. */
function secretIn(text: string): string | undefined {
  const found = /"secret_key"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
  return found !== undefined && apiKey(found).ok ? found : undefined;
}

/** Saves the secret in its place; if that fails, prints it to stdout. */
async function keep(created: NewKey, place: Place, context: Context): Promise<void> {
  const { label, key, secret } = created;
  try {
    await place.keep(secret);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await print(created, context);
    throw new CliError(
      'storage',
      `The API key ${label} was created, but: ${error.message}. Its secret is only on stdout.`,
      { hint: 'save it now: it is not shown again', resource: key.id },
    );
  }
  context.err.note(`Created the API key ${label}. Its secret is saved in ${place.where}.`);
  const { secret_key: _kept, ...rest } = key;
  await context.out.item({ ...rest, in_use: false }, keyView);
}

async function show(created: NewKey, context: Context): Promise<void> {
  await print(created, context);
  context.err.note(
    `Created the API key ${created.label}. The secret on stdout is not shown again.`,
  );
}

/** Prints only the secret for people and `$(…)`; in other formats it is a field. */
async function print({ label, key, secret }: NewKey, context: Context): Promise<void> {
  const { out, flags } = context;
  await writeSecret({ label, id: key.id }, context, () =>
    out.format === 'table' && flags.columns === undefined
      ? out.text(`${secret}\n`)
      : out.item({ ...key, secret_key: secret, in_use: false }, newKeyView),
  );
}
