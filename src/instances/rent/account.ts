import type { Profile } from '../../config/file.ts';
import type { Context } from '../../context.ts';

/** Returns the service's name in the journal. */
export async function serviceName(context: Context): Promise<string> {
  const { sandbox, baseUrl } = await context.settings({ key: false });
  return sandbox ? 'sandbox' : (baseUrl?.value ?? '');
}

/** Returns an account's e-mail address, name or ID; undefined if the account is unknown. */
export function accountText(account: Profile['account']): string | undefined {
  return account?.email ?? account?.name ?? account?.id;
}

/**
 * Returns the account that pays, such as `ann@example.com (profile work)`, if this computer has
 * several profiles. With one profile, nobody can mean another account.
 */
export async function payingAccount(context: Context): Promise<string | undefined> {
  const { profiles } = await context.profiles();
  if (Object.keys(profiles).length < 2) return undefined;
  const { profile, sandbox, apiKey } = await context.settings({ key: false });
  // The key may be that of another account than the profile's.
  if (!sandbox && apiKey?.source === 'environment') return 'the one of GPUCLOUD_API_KEY';
  if (profile === undefined) return undefined;
  const stored = profiles[profile.value];
  const who = sandbox
    ? 'the sandbox, which costs nothing'
    : (accountText(stored?.account) ?? stored?.base_url);
  return `${who} (profile ${profile.value})`;
}

/** Notes the account that pays, before a command rents or terminates. */
export async function noteAccount(context: Context): Promise<void> {
  const account = await payingAccount(context);
  if (account !== undefined) context.err.note(`Account: ${account}`);
}
