import { keyPlace, type Profile } from '../config/file.ts';
import { isHome } from '../config/resolve.ts';
import type { Context } from '../context.ts';
import { ensureCliError } from '../errors.ts';
import { accountsIn, type Journal, type Scope } from '../journal/index.ts';
import { gpucloud } from '../output/shell-line.ts';
import { clamp } from '../output/width.ts';
import { isSameName } from '../rules/names.ts';
import { mayBill } from '../rules/statuses.ts';
import { faultOf } from '../system/error-code.ts';
import { accountText, serviceName } from './rent/account.ts';

/** An account of this computer, other than the active one, whose instances may bill. */
export interface OtherAccount {
  readonly scope: Scope;
  /** The names of its requests with an unknown outcome and of its instances. */
  readonly names: readonly string[];
  /** What to print about it, without a full stop. */
  readonly message: string;
  /** The command that shows it; undefined if no profile signs in to it. */
  readonly next: readonly string[] | undefined;
}

/**
 * Returns the names of an account's requests and instances that may bill, which this computer can't
 * terminate without the key. Ignores an unreadable journal: other commands report it.
 */
export async function maybeRunning(open: () => Promise<Journal>): Promise<string[]> {
  try {
    const { instances, unknown } = await (await open()).read();
    const alive = instances.filter(({ last }) => mayBill(last?.status));
    return [...unknown, ...alive].map(({ name }) => name);
  } catch (error) {
    ensureCliError(error);
    return [];
  }
}

/** Whether a profile has a key of this account. A profile of unknown account may be anyone's. */
export function isSignedInTo(scope: Scope, profile: Profile): boolean {
  const { account } = profile;
  if (keyPlace(profile) === undefined || !isHome(profile, scope.service)) return false;
  return account === undefined || account.id === scope.account;
}

/** Returns the other accounts of this computer whose instances may bill. Names `typed` first. */
export async function otherAccounts(context: Context, typed = ''): Promise<OtherAccount[]> {
  const { profiles } = await context.profiles();
  const service = await serviceName(context);
  const own = await (await context.journal()).account();
  const overriding = ['GPUCLOUD_API_KEY', 'GPUCLOUD_BASE_URL'].filter((one) => context.env[one]);
  const found: OtherAccount[] = [];
  for (const scope of await accountsHere(context)) {
    // Without a known account, any account of the service may be the active one.
    if (scope.service === service && (own ?? scope.account) === scope.account) continue;
    const signedIn = Object.entries(profiles).filter(([, one]) => isSignedInTo(scope, one));
    const [profile] = signedIn.find(([, one]) => one.account !== undefined) ?? [];
    if (profile === undefined && signedIn.length > 0) continue;
    const names = await maybeRunning(() => context.journalOf(scope));
    if (names.length === 0) continue;
    names.sort((a, b) => Number(isSameName(b, typed)) - Number(isSameName(a, typed)));
    const who = clamp(accountText(profiles[profile ?? '']?.account) ?? scope.account, 40);
    found.push({ scope, names, ...aboutOther({ ...scope, who, names, profile, overriding }) });
  }
  return found;
}

function aboutOther(of: {
  readonly service: string;
  readonly who: string;
  readonly names: readonly string[];
  readonly profile: string | undefined;
  /** The environment variables that override every profile. */
  readonly overriding: readonly string[];
}): Pick<OtherAccount, 'message' | 'next'> {
  const { service, who, names, profile, overriding } = of;
  const [first = '', ...more] = names;
  const whose = `${clamp(first, 40)}${more.length === 0 ? '' : ` and ${more.length} more`}`;
  if (profile === undefined) {
    const message = `${whose} may be billing on the account ${who} of ${service}, which no profile signs in to. Sign in with "gpucloud login --profile NAME --base-url ${service}"`;
    return { message, next: undefined };
  }
  const show = overriding.length > 0 ? `Unset ${overriding.join(' and ')}, then` : 'To show it';
  return {
    message: `${whose} may be billing on another account, ${who} (profile ${profile}). ${show}`,
    next: ['--profile', profile, 'status'],
  };
}

/** Returns what to print about another account in one line, without a full stop. */
function otherAccountText({ message, next }: OtherAccount): string {
  return next === undefined ? message : `${message}: ${gpucloud(...next)}`;
}

/**
 * Returns the beginning of a "not found" hint, which names the other account that has an instance
 * of this name, or '' if none has.
 */
export async function otherAccountHint(typed: string, context: Context): Promise<string> {
  const others = await otherAccounts(context, typed);
  const other = others.find(({ names }) => names.some((name) => isSameName(name, typed)));
  return other === undefined ? '' : `${otherAccountText(other)}; `;
}

/** Warns about the other accounts whose instances may bill. */
export async function warnOfOtherAccounts(context: Context): Promise<void> {
  for (const other of await otherAccounts(context)) {
    context.err.warn('may_be_billing', otherAccountText(other));
  }
}

async function accountsHere(context: Context) {
  try {
    return accountsIn((await context.folders()).state);
  } catch (error) {
    context.err.warn(
      'local_storage',
      `Could not look for instances of other accounts (${faultOf(error)}).`,
    );
    return [];
  }
}
