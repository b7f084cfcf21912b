import { stat } from 'node:fs/promises';
import { platform } from 'node:os';
import type { User } from '../../api/index.ts';
import { onCancel } from '../../command-line/confirm.ts';
import { readStdin, readText } from '../../command-line/input.ts';
import { brokenBy, checked, checkedSecret } from '../../command-line/parse.ts';
import type { Store } from '../../config/file.ts';
import type { Context, ServiceAddress } from '../../context.ts';
import { CliError, isInterrupt, usageError } from '../../errors.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import { apiKey, baseUrl } from '../../rules/service.ts';
import { brokenBaseUrl } from './profile.ts';

export interface KeySource {
  readonly keyStdin: boolean;
  readonly keyFile: string | undefined;
  /** Command that prints the key. */
  readonly keyCommand: readonly string[] | undefined;
  /** Undefined means the keyring if there is one, otherwise the file. */
  readonly store: Store | undefined;
}

/** Maximum attempts to type a key. */
const TRIES = 3;

/**
 * Checks a key. If the service refuses a typed key, asks again. `before` receives each key before
 * it is sent.
 */
export async function proveKey(
  source: KeySource,
  { profile, known }: { readonly profile: string; readonly known: string | undefined },
  context: Context,
  before: (service: ServiceAddress) => Promise<void>,
): Promise<{ address: ServiceAddress; user: User }> {
  const { keyStdin, keyFile, keyCommand } = source;
  const isTyped = !keyStdin && keyFile === undefined && keyCommand === undefined;
  const prompts = isTyped || known === undefined ? await context.prompts() : undefined;
  if (prompts === undefined && (isTyped || known === undefined)) {
    const missing = [
      ...(known === undefined ? ['--base-url URL (or GPUCLOUD_BASE_URL)'] : []),
      ...(isTyped ? ['--key-stdin, --key-file FILE or --key-command COMMAND'] : []),
    ];
    throw usageError(`not interactive: login needs ${missing.join(' and ')}`);
  }
  // Reads the key first, so that nobody types an address before learning that the key is
  // unreadable.
  const given = isTyped ? undefined : await orStoreNothing(() => readKey(source, profile, context));
  const text = known ?? (await orStoreNothing(() => askAddress(prompts)));
  const address = checked('--base-url', (text ?? '').trim(), baseUrl);
  for (let tries = 1; ; tries += 1) {
    const key = given ?? (await orStoreNothing(() => askKey(address, prompts)));
    const service = { baseUrl: address, apiKey: key };
    await before(service);
    try {
      return { address: service, user: await orStoreNothing(() => proved(service, context)) };
    } catch (error) {
      const isRefused = error instanceof CliError && error.failure === 'authentication';
      if (!isTyped || !isRefused || tries >= TRIES) throw error;
      prompts?.print(error.message);
    }
  }
}

function orStoreNothing<T>(work: () => Promise<T>): Promise<T> {
  return onCancel('Nothing was stored.', work);
}

async function askAddress(prompts: Prompts | undefined): Promise<string | undefined> {
  return prompts?.text('Base URL of the service (--base-url), such as https://api.example.com/v1', {
    check: brokenBaseUrl,
  });
}

async function askKey(address: string, prompts: Prompts | undefined): Promise<string> {
  const rule = brokenBy(apiKey);
  const text = await prompts?.secret(`API key for ${address}`, (typed) =>
    typed.trim() === '' ? 'Enter your API key' : rule(typed.trim()),
  );
  return checkedSecret('API key', (text ?? '').trim(), apiKey);
}

async function readKey(
  { keyStdin, keyFile, keyCommand }: KeySource,
  profile: string,
  context: Context,
): Promise<string> {
  if (keyCommand !== undefined) {
    const place = { kind: 'command', argv: keyCommand } as const;
    const key = await (await context.keys()).read(profile, place);
    return checkedSecret('--key-command', key, apiKey);
  }
  if (keyStdin && context.stdin.isTTY === true) {
    throw usageError(
      '--key-stdin: stdin is a terminal and would show the key',
      'omit the flag to be prompted with hidden input',
    );
  }
  const flag = keyFile === undefined ? '--key-stdin' : `--key-file "${keyFile}"`;
  const text =
    keyFile === undefined
      ? await readStdin(flag, context)
      : await readText('--key-file', keyFile, context);
  const key = checkedSecret(flag, text.replace(/\r?\n$/, ''), apiKey);
  // Skips Windows, which has no file modes.
  if (keyFile !== undefined && platform() !== 'win32' && (await stat(keyFile)).mode & 0o044) {
    context.err.warn(
      'key_exposed',
      `Other users can read ${keyFile}. Run chmod 600 on the file, or create a new key.`,
    );
  }
  return key;
}

/** Reads a key's account. Every error says that nothing was stored. */
async function proved(address: ServiceAddress, context: Context): Promise<User> {
  const progress = context.err.progress(`Checking the key with ${address.baseUrl}`);
  try {
    return await (await context.apiFor(address)).users.me();
  } catch (error) {
    if (!(error instanceof CliError) || isInterrupt(error)) throw error;
    const { failure, message } = error;
    // If the service is unreachable, the error already says that there are no changes.
    const words = failure === 'unreachable' ? message : `${message} Nothing was stored.`;
    throw error.with(
      words,
      failure === 'authentication'
        ? { hint: `check that the key is complete and belongs to ${address.baseUrl}` }
        : failure === 'notFound'
          ? { hint: `check the base URL: ${address.baseUrl} has no GET /users/me` }
          : {},
    );
  } finally {
    progress.done();
  }
}
