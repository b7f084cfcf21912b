import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import { SANDBOX } from '../../config/names.ts';
import type { Context } from '../../context.ts';
import { profileView, shownProfile, warnOfEnvironment } from '../../profiles/profile.ts';

export function registerUse(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'Commands use the current profile where neither --profile nor GPUCLOUD_PROFILE is given.',
    completes: { name: 'profile' },
    examples: ['gpucloud profiles use work', 'gpucloud profiles use sandbox'],
  })
    .argument('<name>', 'the profile')
    .action((name, _flags, command) => useProfile(name, frame.context(command)));
}

export async function useProfile(name: string, context: Context): Promise<void> {
  const { err, out } = context;
  const after = await (await context.config()).change((file) => {
    // Judged on the file as it is under the lock: a profile that was just removed is not chosen.
    shownProfile(file, name);
    return { ...file, current: name };
  });
  const profile = shownProfile(after, name);
  err.note(
    name === SANDBOX
      ? 'The sandbox is in force: commands cost nothing and reach no service.'
      : `The profile "${name}" is in force.`,
  );
  if (name !== SANDBOX && !profile.has_key) {
    err.note(`It has no key yet: gpucloud login --profile ${name}`);
  }
  warnOfEnvironment(name, after, context);
  await out.item(profile, profileView);
}
