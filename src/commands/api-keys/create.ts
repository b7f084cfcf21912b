import type { ApiKey } from '../../api/index.ts';
import { Option } from '../../cli/command.ts';
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
      .addOption(
        new Option(
          '--save-profile <profile>',
          'save it in a profile, with the current base URL',
        ).conflicts('keyFile'),
      ),
  async run(context, typed, flags) {
    refuseSecret('NAME', typed);
    const name = checked('NAME', typed, apiKeyName);
    const isKept = flags.keyFile !== undefined || flags.saveProfile !== undefined;
    checkColumns(isKept ? keyView : newKeyView, context.flags);
    if (!isKept) refuseLosing(context);
    // Prepare the place first, so that a bad path or profile costs no key.
    const place = await placeFor(flags, context);
    let key: NewKey;
    try {
      key = await requestKey(name, context);
    } catch (error) {
      await place?.drop();
      throw error;
    }
    await (place === undefined ? show(key, context) : keep(key, place, context));
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
  if (saveProfile !== undefined) return profilePlace(saveProfile, context);
  // Without a login, leave no empty file behind.
  await context.api();
  return keyFile === undefined ? undefined : reservedFile(keyFile);
}

/** A created key and its secret, which no other response contains. */
interface NewKey extends ApiKey {
  readonly secret_key: string;
}

/** Throws what the request throws, and CliError('notUnderstood') without a usable secret. */
async function requestKey(name: string, context: Context): Promise<NewKey> {
  const api = await context.api();
  const key = await sendOnce({ what: `the API key ${name}`, bills: false }, context, (options) =>
    api.apiKeys.create({ name }, options),
  );
  const secret = key.secret_key ?? '';
  if (apiKey(secret).ok) return { ...key, secret_key: secret };
  throw new CliError(
    'notUnderstood',
    `The API key ${labelOf(key)} was created, but the response has no usable secret_key. Its secret is lost.`,
    { hint: 'create another key: gpucloud api-keys create NAME', resource: key.id },
  );
}

function labelOf({ name, id }: ApiKey): string {
  return name == null ? id : `${name} (${id})`;
}

/** Saves the secret in its place; if that fails, prints it to stdout. */
async function keep(created: NewKey, place: Place, context: Context): Promise<void> {
  const { secret_key: secret, ...key } = created;
  try {
    await place.keep(secret);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await print(created, context);
    throw new CliError(
      'storage',
      `The API key ${labelOf(created)} was created, but: ${error.message}. Its secret is only on stdout.`,
      { hint: 'save it now: it is not shown again', resource: key.id },
    );
  }
  context.err.note(
    `Created the API key ${labelOf(created)}. Its secret is saved in ${place.where}.`,
  );
  await context.out.item({ ...key, in_use: false }, keyView);
}

async function show(key: NewKey, context: Context): Promise<void> {
  await print(key, context);
  context.err.note(`Created the API key ${labelOf(key)}. The secret on stdout is not shown again.`);
}

/** Prints only the secret for people and `$(…)`; in other formats it is a field. */
async function print(key: NewKey, context: Context): Promise<void> {
  const { out, flags } = context;
  await writeSecret({ label: labelOf(key), id: key.id }, context, () =>
    out.format === 'table' && flags.columns === undefined
      ? out.text(`${key.secret_key}\n`)
      : out.item({ ...key, in_use: false }, newKeyView),
  );
}
