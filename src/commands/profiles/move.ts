import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { oneOf } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import { profileOf, withProfile } from '../../config/file.ts';
import { keyFields, keyPlace } from '../../config/key.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { keepKey } from '../../profiles/keep-key.ts';
import { profileView, shownProfile } from '../../profiles/profile.ts';

const TARGETS = ['keyring', 'file'] as const;

export function registerMove(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'The key is read from where it rests and put into the other place; it stays as it is. To ask a\n' +
      'password manager for it: gpucloud login --key-command COMMAND.',
    completes: { name: 'profile' },
    examples: ['gpucloud profiles move work --to keyring', 'gpucloud profiles move work --to file'],
  })
    .argument('<name>', 'the profile')
    .option('--to <place>', 'keyring or file', oneOf('--to', TARGETS))
    .action((name, { to }, command) => moveKey(name, to, frame.context(command)));
}

export async function moveKey(
  name: string,
  to: (typeof TARGETS)[number] | undefined,
  context: Context,
): Promise<void> {
  if (to === undefined) {
    throw usageError('--to is missing: keyring or file');
  }
  const file = await (await context.config()).read();
  const shown = shownProfile(file, name);
  const stored = profileOf(file, name);
  const place = stored === undefined ? undefined : keyPlace(stored);
  if (place === undefined) {
    throw new CliError('notFound', `The profile "${name}" has no key to move.`, {
      hint: `gpucloud login --profile ${name}`,
      resource: name,
    });
  }
  if (place.kind === to) {
    context.err.note(`The key of the profile "${name}" is there already.`);
    await context.out.item(shown, profileView);
    return;
  }
  const key = await (await context.keys()).read(name, place);
  const { file: after, told } = await keepKey(
    { profile: name, key, store: to },
    (now, next) => {
      const there = profileOf(now, name);
      if (there === undefined) throw usageError(`NAME "${name}": this profile is gone`);
      const { base_url, account } = there;
      return withProfile(now, name, {
        base_url,
        ...(account === undefined ? {} : { account }),
        ...keyFields(next),
      });
    },
    context,
  );
  context.err.note(told);
  await context.out.item(shownProfile(after, name), profileView);
}
