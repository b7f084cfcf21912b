import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { namedProfile, shownProfile } from '../../profiles/profile.ts';
import { inForce, ranked, rankedView } from './in-force.ts';

export function registerGet(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    completes: { name: 'profile' },
    examples: ['gpucloud profiles get', 'gpucloud profiles get work --json'],
  })
    .argument('[name]', 'the profile (default: the one in force)')
    .action((name, _flags, command) => getProfile(name, frame.context(command)));
}

export async function getProfile(name: string | undefined, context: Context): Promise<void> {
  const file = await (await context.config()).read();
  const chosen = name ?? namedProfile(context)?.name ?? file.current;
  if (chosen === undefined) {
    throw new CliError('notFound', 'No profile is current.', {
      hint: 'sign in with "gpucloud login", or try "gpucloud profiles use sandbox"',
    });
  }
  const shown = ranked(shownProfile(file, chosen), inForce(context, file));
  await context.out.item(shown, rankedView);
}
