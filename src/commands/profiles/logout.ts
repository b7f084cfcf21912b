import { unlessNoted } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import { type ConfigFile, profileOf, SANDBOX, withProfile } from '../../config/file.ts';
import { dropKey } from '../../config/keep-key.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { warnOfUnenforcedDeadlines } from '../../instances/deadlines/unenforced.ts';
import { maybeRunning } from '../../instances/other-accounts.ts';
import { namedProfile, profileView, shownProfile } from './profile.ts';

export const logout = verb({
  summary: 'Remove the API key from a profile',
  local: true,
  view: profileView,
  notes:
    "The profile keeps its base URL. The key still works: the API can't revoke keys. gpucloud " +
    'does not enforce deadlines until the next login.',
  examples: ['gpucloud logout', 'gpucloud logout --profile work'],
  takes: (command) => command,
  run: (context) => signOut(context),
});

/** Removes the active profile's key and account. Succeeds if already signed out. */
async function signOut(context: Context): Promise<void> {
  const { err, env, out } = context;
  const before = await (await context.config()).read();
  const name = namedProfile(context)?.name ?? before.current;
  if (name === undefined) {
    throw new CliError('notFound', 'No profile is active, so there is no key to remove.', {
      hint: 'see which profiles have a key: gpucloud profiles list',
    });
  }
  if (name === SANDBOX) {
    throw usageError(
      'the profile "sandbox" is built in and has no key',
      'choose another profile with --profile NAME',
    );
  }
  const profile = shownProfile(before, name, context);
  if (!profile.has_key) {
    err.note(`The profile "${name}" already has no key.`);
    await unlessNoted(context, () => out.item(profile, profileView));
    return;
  }
  const running = await maybeRunning(() => context.journal());
  const withoutKey = (file: ConfigFile) => {
    const stored = profileOf(file, name);
    return stored === undefined ? file : withProfile(file, name, { base_url: stored.base_url });
  };
  const after = await dropKey(name, withoutKey, context);
  err.note(`Removed the key of profile "${name}".`);
  const { base_url: service = '', account } = profileOf(before, name) ?? {};
  const scope = { service, account: account?.id };
  await warnOfUnenforcedDeadlines(scope, () => context.journalOf(scope), context);
  err.note(
    "The key still works: the API can't revoke keys. If others may have the key, revoke it in the web console.",
  );
  if (running.length > 0) {
    err.warn(
      'may_be_billing',
      `Signing out doesn't terminate instances. These instances may still be billing: ${running.join(', ')}.`,
    );
  }
  if (env.GPUCLOUD_API_KEY) {
    err.warn('settings', 'GPUCLOUD_API_KEY is still set; the next command will use it.');
  }
  await unlessNoted(context, () => out.item(shownProfile(after, name, context), profileView));
}
