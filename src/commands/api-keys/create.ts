import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { refuseSecret } from '../../cli/no-secret.ts';
import { checked } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { checkColumns } from '../../output/index.ts';
import { apiKeyName } from '../../rules/names.ts';
import { askedFor, type NewKey } from './ask.ts';
import { reservedFile } from './key-file.ts';
import type { Place } from './place.ts';
import { profilePlace } from './save-profile.ts';
import { keyView, newKeyView } from './view.ts';

export function registerCreate(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'The secret stands alone on stdout, or in "secret_key" of the other formats. With --key-file or\n' +
      '--save-profile it is kept there instead, and stdout shows the key without it. The published API\n' +
      'has no way to revoke a key.',
    completes: { name: 'nothing', '--save-profile': 'profile' },
    examples: [
      'KEY=$(gpucloud api-keys create ci)',
      'gpucloud api-keys create ci --key-file ./ci.key',
      'gpucloud api-keys create laptop --save-profile work',
    ],
  })
    .argument('<name>', 'its name, at most 50 characters')
    .option('--key-file <path>', 'keep the secret in a new file that only you may read')
    .option('--save-profile <profile>', 'keep it in a profile, with the base URL in force')
    .action((name, { keyFile, saveProfile }, command) =>
      createKey({ name, keyFile, saveProfile }, frame.context(command)),
    );
}

export interface CreateKeyInput {
  readonly name: string;
  readonly keyFile: string | undefined;
  readonly saveProfile: string | undefined;
}

/** Whatever goes wrong after the key was created, its secret is kept or shown somewhere. */
export async function createKey(input: CreateKeyInput, context: Context): Promise<void> {
  refuseSecret('NAME', input.name);
  const name = checked('NAME', input.name, apiKeyName);
  const isKept = input.keyFile !== undefined || input.saveProfile !== undefined;
  checkColumns(isKept ? keyView : newKeyView, context.flags);
  if (!isKept) {
    refuseLosing(context);
  }
  const places = await placesFor(input, context);
  let created: NewKey;
  try {
    created = await askedFor(name, context);
  } catch (error) {
    for (const place of places) await place.drop();
    throw error;
  }
  await hand(created, places, context);
  if (created.fault !== undefined) throw created.fault;
}

/** A format without the secret would lose it for good. */
function refuseLosing({ out, flags }: Context): void {
  const lossy =
    out.format === 'id'
      ? '--quiet'
      : flags.columns?.includes('secret_key') === false
        ? '--columns without secret_key'
        : flags.query === undefined
          ? undefined
          : '--query';
  if (lossy !== undefined) {
    throw usageError(
      `${lossy}: the secret, which is shown this once, would be lost`,
      'keep it with --key-file or --save-profile',
    );
  }
}

async function placesFor(
  { keyFile, saveProfile }: CreateKeyInput,
  context: Context,
): Promise<Place[]> {
  // First what may ask or fail without a trace, the file last.
  const profile = saveProfile === undefined ? [] : [await profilePlace(saveProfile, context)];
  await context.api();
  return keyFile === undefined ? profile : [await reservedFile(keyFile), ...profile];
}

/** Keeps the secret where it was asked to be kept, and prints the key, with its secret if need be. */
async function hand(created: NewKey, places: readonly Place[], context: Context): Promise<void> {
  const { name, key, secret } = created;
  const called = key.id === undefined ? name : `${name} (${key.id})`;
  const kept: string[] = [];
  const faults: string[] = [];
  for (const place of places) {
    try {
      await place.keep(secret);
      kept.push(place.where);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      faults.push(error.message);
    }
  }
  for (const where of kept) {
    context.err.note(`Created the API key ${called}. Its secret rests in ${where}.`);
  }
  if (kept.length > 0) {
    const { secret_key: _kept, ...rest } = key;
    await context.out.item({ key: rest, in_use: false }, keyView);
  } else {
    await show(created, called, context);
    if (faults.length === 0) {
      context.err.note(`Created the API key ${called}. The secret on stdout is not shown again.`);
    }
  }
  if (faults.length > 0) {
    const rests =
      kept.length > 0
        ? `Its secret rests in ${kept.join()}`
        : 'Its secret is on stdout and nowhere else';
    throw new CliError(
      'storage',
      `The API key ${called} was created, but: ${faults.join('; ')}. ${rests}.`,
      {
        hint: 'keep it now: it is not shown again',
        ...(key.id === undefined ? {} : { resource: key.id }),
      },
    );
  }
}

/** Alone on stdout for people and `$(…)`; in the other formats it is a field. */
async function show({ key, secret }: NewKey, called: string, context: Context): Promise<void> {
  const { out, flags } = context;
  try {
    await (out.format === 'table' && flags.columns === undefined
      ? out.text(`${secret}\n`)
      : out.item({ key: { ...key, secret_key: secret }, in_use: false }, newKeyView));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw lost(called, key.id, error.message, error);
  }
  // Elsewhere a reader who has gone wanted no more; nobody gives up what is shown this once.
  if (out.unread) throw lost(called, key.id, 'nobody reads stdout');
}

function lost(called: string, id: string | undefined, why: string, cause?: CliError): CliError {
  return new CliError(
    cause?.failure ?? 'storage',
    `The API key ${called} was created, but its secret could not be shown and is lost: ${why}.`,
    {
      hint: 'the key itself stays; create another one: gpucloud api-keys create NAME',
      ...(cause === undefined ? {} : { cause }),
      ...(id === undefined ? {} : { resource: id }),
    },
  );
}
