import { type ConfigFile, keyPlace, type Profile, profileOf } from '../config/file.ts';
import { replaceQuestion } from '../config/remedies.ts';
import { isHome } from '../config/resolve.ts';
import type { Context, ServiceAddress } from '../context.ts';
import { failuresOf } from '../errors.ts';
import type { Scope } from '../journal/index.ts';
import { warnOfUnenforcedDeadlines } from './deadlines/unenforced.ts';
import { isSignedInTo, maybeRunning, type OtherAccount } from './other-accounts.ts';
import { accountText } from './rent/account.ts';

/**
 * Returns the question to ask before a profile's key or address is replaced, or undefined if
 * nothing is lost. Names what may be billing, since the new key's account is not known yet.
 */
export async function replacingQuestion(
  name: string,
  before: Profile | undefined,
  address: string | undefined,
  context: Context,
): Promise<string | undefined> {
  const question = replaceQuestion(name, before, address);
  if (question === undefined || before === undefined) return undefined;
  const scope = { service: before.base_url, account: before.account?.id };
  const names = keyPlace(before) ? await maybeRunning(() => context.journalOf(scope)) : [];
  return names.length === 0
    ? question
    : `${question} Instances of its account may still be billing: ${names.join(', ')}. A key of another account can't list them or enforce their deadlines.`;
}

/** An account that a profile leaves for another one. */
export interface LeftAccount extends Pick<OtherAccount, 'scope' | 'names'> {
  readonly profile: string;
  /** Its e-mail address, name or ID, and its service. */
  readonly who: string;
}

/**
 * Returns the account that a profile signs in to now, if a key of another account is about to
 * replace its key.
 */
export async function accountLeft(
  profile: string,
  file: ConfigFile,
  next: Required<Pick<Scope, 'service' | 'account'>>,
  context: Context,
): Promise<LeftAccount | undefined> {
  const before = profileOf(file, profile);
  if (before === undefined || keyPlace(before) === undefined) return undefined;
  const { base_url: service, account } = before;
  const isSame =
    isHome(before, next.service) && (account === undefined || account.id === next.account);
  if (isSame) return undefined;
  const scope = { service, account: account?.id };
  const others = Object.entries(file.profiles).filter(([name]) => name !== profile);
  const isKept = others.some(([, other]) => isSignedInTo(scope, other));
  return {
    profile,
    scope,
    who: `${accountText(account) ?? 'an unknown account'} (${service})`,
    names: isKept ? [] : await maybeRunning(() => context.journalOf(scope)),
  };
}

/** Returns the question before leaving an account, or undefined if nothing may bill there. */
export function leavingQuestion({ profile, who, names }: LeftAccount): string | undefined {
  if (names.length === 0) return undefined;
  return `Instances of ${who} may still be billing: ${names.join(', ')}. gpucloud will no longer list them or enforce their deadlines. Sign "${profile}" in to another account?`;
}

/** Warns, after the profile has changed, about what bills there and which deadlines nobody enforces. */
export async function warnOfLeft(
  { scope, who, names }: LeftAccount,
  context: Context,
): Promise<void> {
  if (names.length > 0) {
    context.err.warn(
      'may_be_billing',
      `Instances of ${who} may still be billing, and no profile signs in to that account: ${names.join(', ')}. To manage them: gpucloud login --profile NAME --base-url ${scope.service}`,
    );
  }
  await warnOfUnenforcedDeadlines(scope, () => context.journalOf(scope), context);
}

/** Stores a key's account, so that commands with this key save a request. */
export async function learnKey(
  { baseUrl, apiKey }: ServiceAddress,
  account: string,
  context: Context,
): Promise<void> {
  const opened = context.journalOf({ service: baseUrl, apiKey });
  // Ignores a failure: the next command that rents or lists reads the account again.
  await failuresOf(opened.then((journal) => journal.learnAccount(account)));
}
