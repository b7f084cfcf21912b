import type { AnyCommand } from '../../cli/command.ts';
import { confirm } from '../../cli/confirm.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import { profileOf, withoutProfile } from '../../config/file.ts';
import { type KeyPlace, keyPlace } from '../../config/key.ts';
import { SANDBOX } from '../../config/names.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { profileView, type ShownProfile, shownProfile } from '../../profiles/profile.ts';

export function registerRemove(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'Machines go on running and billing. The key itself still works: the API of the service documents no way to revoke one.',
    completes: { name: 'profile' },
    examples: ['gpucloud profiles remove work', 'gpucloud profiles rm work --yes'],
  })
    .argument('<name>', 'the profile')
    .action((name, _flags, command) => removeProfile(name, frame.context(command)));
}

export async function removeProfile(name: string, context: Context): Promise<void> {
  const { err, out } = context;
  if (name.toLowerCase() === SANDBOX) {
    throw usageError(
      `NAME "${name}": the profile "sandbox" is built in, so it can't be added or removed`,
      'to empty it: gpucloud sandbox reset',
    );
  }
  const config = await context.config();
  const profile = shownProfile(await config.read(), name);
  await confirm(context, question(profile));
  let place: KeyPlace | undefined;
  await config.change((file) => {
    shownProfile(file, name);
    const stored = profileOf(file, name);
    place = stored === undefined ? undefined : keyPlace(stored);
    return withoutProfile(file, name);
  });
  await (await context.keys()).remove(name, place);
  err.note(`The profile "${name}" is removed.`);
  if (profile.has_key) {
    err.note(
      'Its key still works at the service, whose API documents no way to revoke one, and its machines go on as they were.',
    );
  }
  if (profile.current) {
    err.note('No profile is current now; choose one: gpucloud profiles use NAME');
  }
  await out.item({ ...profile, has_key: false, key_in: null, current: false }, profileView);
}

function question({ name, has_key, base_url }: ShownProfile): string {
  const what = has_key ? 'and the key stored in it' : '(it has no key)';
  return `Remove the profile "${name}" for ${base_url} ${what}?`;
}
