import { action } from '../../cli/verb.ts';
import { profileOf, withProfile } from '../../config/file.ts';
import { type KeyPlace, keyPlace } from '../../config/key.ts';
import { SANDBOX } from '../../config/names.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { namedProfile, profileView, shownProfile } from './profile.ts';

/** `gpucloud logout`: a verb of the root. */
export const logout = action({
  view: profileView,
  notes: 'The profile keeps its base URL. The key still works: the API has no way to revoke one.',
  examples: ['gpucloud logout', 'gpucloud logout --profile work'],
  takes: (command) => command,
  run: (context) => signOut(context),
});

/** Forgets the key of the active profile, and whose it was. Repeating it succeeds. */
async function signOut(context: Context): Promise<void> {
  const { err, env, out } = context;
  const config = await context.config();
  const before = await config.read();
  const name = namedProfile(context)?.name ?? before.current;
  if (name === undefined) {
    throw new CliError('notFound', 'No profile is active, so there is no key to forget.', {
      hint: 'gpucloud profiles list shows the profiles, and which of them have a key',
    });
  }
  if (name === SANDBOX) {
    throw usageError(
      'the profile "sandbox" is built in and keeps no key, so there is none to forget',
      'name another with --profile NAME',
    );
  }
  const profile = shownProfile(before, name, context);
  if (!profile.has_key) {
    err.note(`The profile "${name}" has no key: there was nothing to forget.`);
    await out.item(profile, profileView);
    return;
  }
  const running = await maybeRunning(context);
  let place: KeyPlace | undefined;
  const after = await config.change((file) => {
    const stored = profileOf(file, name);
    place = keyPlace(stored);
    return stored === undefined ? file : withProfile(file, name, { base_url: stored.base_url });
  });
  await (await context.keys()).remove(name, place);
  err.note(`The key of the profile "${name}" is forgotten.`);
  err.note(
    'The key itself still works at the service, whose API documents no way to revoke one: end it in your account there if others may have it.',
  );
  if (running.length > 0) {
    err.warn(
      'may_be_billing',
      `Signing out ends no machine. Not known to be terminated, and maybe billing: ${running.join(', ')}.`,
    );
  }
  if (env.GPUCLOUD_API_KEY) {
    err.warn('settings', 'GPUCLOUD_API_KEY is still set, and is what the next command will use.');
  }
  await out.item(shownProfile(after, name, context), profileView);
}

/**
 * The account's instances that may bill: without the key nobody can terminate them from here. A
 * journal that can't be read keeps no key.
 */
async function maybeRunning(context: Context): Promise<string[]> {
  try {
    const { instances, unknown } = await (await context.journal()).read();
    const alive = instances.filter(({ last }) => !isTerminated(last?.status));
    return [...unknown, ...alive].map(({ name }) => name);
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}
