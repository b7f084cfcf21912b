import type { User } from '../../api/index.ts';
import { onCancel } from '../../cli/confirm.ts';
import { checked, checkedSecret } from '../../cli/parse.ts';
import { type ConfigFile, profileOf, withProfile } from '../../config/file.ts';
import { keyFields, keyPlace, type Store } from '../../config/key.ts';
import { profileName, SANDBOX } from '../../config/names.ts';
import type { Context, ServiceAddress } from '../../context.ts';
import { CliError, type Failure, usageError } from '../../errors.ts';
import { keepKey } from '../../profiles/keep-key.ts';
import {
  brokenBaseUrl,
  givenBaseUrl,
  namedProfile,
  profileView,
  shownProfile,
  warnOfEnvironment,
} from '../../profiles/profile.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import { apiKey, baseUrl } from '../../rules/service.ts';
import { keyFromFile, keyFromStdin } from './key.ts';

export interface LoginInput {
  readonly keyStdin: boolean;
  readonly keyFile: string | undefined;
  /** The words of the command that prints the key. */
  readonly keyCommand: readonly string[] | undefined;
  /** undefined for the keyring where there is one, and else the file. */
  readonly store: Store | undefined;
}

/**
 * Proves a key with GET /users/me (spec: Endpoints) and then keeps it, with its address and its
 * account, as the current profile. Whatever goes wrong before the proof leaves the settings alone.
 */
export async function login(input: LoginInput, context: Context): Promise<void> {
  const { err, out } = context;
  const config = await context.config();
  // First of all: a file that can't be used is no place for a key that was just typed.
  const before = await config.read();
  const given = givenBaseUrl(context);
  const name = nameFor(before, given, context);
  const known = storedAddress(before, name);

  const { address, user } = await onCancel('Nothing was stored.', () =>
    provedAddress(input, name, given ?? known, context),
  );

  const { file: after, told } = await keepKey(
    { profile: name, key: address.apiKey, store: input.store, command: input.keyCommand },
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
  tellReplaced(before, name, address, user, context);
  await keepWhose(address, user, context);
  err.note(`Signed in at ${address.baseUrl} as ${whose(user)}.`);
  err.note(told);
  if (user.is_active === false) {
    err.warn('The service says that this account is blocked.');
  }
  warnOfEnvironment(name, after, context);
  await out.item(shownProfile(after, name), profileView);
}

/**
 * The profile to sign in with, where none is named: the current one when it is for this service, so
 * that a new key replaces an old one; otherwise `default`, so that no key of another service is lost.
 */
function nameFor(file: ConfigFile, given: string | undefined, context: Context): string {
  const named = namedProfile(context);
  if (named !== undefined) {
    if (named.name.toLowerCase() === SANDBOX) {
      throw usageError(
        `${named.origin} "${named.name}": the sandbox needs no key, so there is nothing to sign in to`,
        named.origin === 'GPUCLOUD_PROFILE'
          ? 'unset GPUCLOUD_PROFILE, or name the profile to sign in with: gpucloud login --profile NAME'
          : 'choose it with: gpucloud profiles use sandbox',
      );
    }
    return checked(named.origin, named.name, profileName);
  }
  const { current } = file;
  const isSameService =
    current !== undefined &&
    profileOf(file, current) !== undefined &&
    (given === undefined || given === storedAddress(file, current));
  return isSameService ? current : 'default';
}

/** An address that is against the rules counts as none: to sign in anew is how it is replaced. */
function storedAddress(file: ConfigFile, name: string): string | undefined {
  const profile = profileOf(file, name);
  const verdict = profile === undefined ? undefined : baseUrl(profile.base_url);
  return verdict?.ok === true ? verdict.value : undefined;
}

/** As many typing errors as anyone makes. */
const TRIES = 3;

/** A key that was typed and is refused may be typed again; one from elsewhere stays as it is. */
async function provedAddress(
  input: LoginInput,
  profile: string,
  known: string | undefined,
  context: Context,
): Promise<{ address: ServiceAddress; user: User }> {
  const prompts = asksKey(input) ? await context.prompts() : undefined;
  let address = await addressOf(input, profile, known, context);
  for (let tries = 1; ; tries += 1) {
    try {
      return { address, user: await proved(address, context) };
    } catch (error) {
      const again =
        error instanceof CliError && error.failure === 'authentication' && tries < TRIES;
      if (prompts === undefined || !again) throw error;
      prompts.tell(error.message);
      address = { ...address, apiKey: await askedKey(address.baseUrl, prompts) };
    }
  }
}

function asksKey({ keyStdin, keyFile, keyCommand }: LoginInput): boolean {
  return !keyStdin && keyFile === undefined && keyCommand === undefined;
}

async function addressOf(
  input: LoginInput,
  profile: string,
  known: string | undefined,
  context: Context,
): Promise<ServiceAddress> {
  const isAsked = asksKey(input);
  const prompts = known === undefined || isAsked ? await context.prompts() : undefined;
  if (prompts === undefined && (known === undefined || isAsked)) {
    const missing = [
      ...(known === undefined ? ['--base-url URL (or GPUCLOUD_BASE_URL)'] : []),
      ...(isAsked ? ['--key-stdin, --key-file FILE or --key-command COMMAND'] : []),
    ];
    throw usageError(`login needs ${missing.join(', and ')}, and nobody can be asked here`);
  }
  // The key first: where it can't be had, nobody is asked for an address in vain.
  const read = await readKey(input, profile, context);
  const address = known ?? (await askedAddress(prompts));
  return { baseUrl: address, apiKey: read ?? (await askedKey(address, prompts)) };
}

async function readKey(
  { keyStdin, keyFile, keyCommand }: LoginInput,
  profile: string,
  context: Context,
): Promise<string | undefined> {
  if (keyCommand !== undefined) {
    const place = { kind: 'command', argv: keyCommand } as const;
    const key = await (await context.keys()).read(profile, place);
    return checkedSecret('--key-command', key, apiKey);
  }
  if (keyStdin) {
    return keyFromStdin(context);
  }
  return keyFile === undefined ? undefined : keyFromFile(keyFile, context);
}

async function askedAddress(prompts: Prompts | undefined): Promise<string> {
  const text = await prompts?.text('Address of the service', { check: brokenBaseUrl });
  return checked('--base-url', (text ?? '').trim(), baseUrl);
}

async function askedKey(address: string, prompts: Prompts | undefined): Promise<string> {
  const text = await prompts?.secret(`API key for ${address}`, brokenKey);
  return checkedSecret('API key', (text ?? '').trim(), apiKey);
}

function brokenKey(text: string): string | undefined {
  const verdict = apiKey(text.trim());
  return verdict.ok ? undefined : verdict.rule;
}

/** Whose key it is. Every failure says that nothing was stored. */
async function proved(address: ServiceAddress, context: Context): Promise<User> {
  const progress = context.err.progress(`Asking ${address.baseUrl} whose key this is`);
  try {
    const api = await context.apiFor(address);
    return await api.users.me();
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode >= 128) {
      throw error;
    }
    const { failure, message } = error;
    const remedies: Partial<Record<Failure, string>> = {
      authentication: `check that the key is whole and belongs to ${address.baseUrl}`,
      notFound: `check the base URL: there is no GET /users/me below ${address.baseUrl}`,
    };
    const hint = remedies[failure];
    // Of a service that was not reached it is said already that nothing was changed.
    const words = failure === 'unreachable' ? message : `${message} Nothing was stored.`;
    throw error.with(words, hint === undefined ? {} : { hint });
  } finally {
    progress.done();
  }
}

/** What was rented with this key alone, before anyone knew whose it is, is the account's from now on. */
async function keepWhose(address: ServiceAddress, user: User, context: Context): Promise<void> {
  try {
    const scope = { service: address.baseUrl, apiKey: address.apiKey };
    await (await context.journalOf(scope)).learnAccount(user.id, { whereUsed: true });
  } catch (error) {
    // The next look at the machines learns it as well.
    if (!(error instanceof CliError)) throw error;
  }
}

/** A key that gives way to another account's or service's can't be had again from here. */
function tellReplaced(
  before: ConfigFile,
  name: string,
  address: ServiceAddress,
  user: User,
  { err }: Context,
): void {
  const old = profileOf(before, name);
  if (old === undefined || keyPlace(old) === undefined) {
    return;
  }
  const { account } = old;
  if (storedAddress(before, name) !== address.baseUrl) {
    err.warn(`The profile "${name}" held a key of ${old.base_url}; this one took its place.`);
  } else if (account !== undefined && account.id !== user.id) {
    const former = account.email ?? account.name ?? account.id;
    err.warn(`The profile "${name}" held a key of ${former}; this one took its place.`);
  }
}

function whose({ email, name, id, balance }: User): string {
  const who = email ?? name ?? id;
  return balance == null ? who : `${who} (balance ${balance} ₽)`;
}
