import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import { profileNames } from '../../config/file.ts';
import type { Context } from '../../context.ts';
import { shownProfile, warnOfEnvironment } from '../../profiles/profile.ts';
import { inForce, ranked, rankedView } from './in-force.ts';

export function registerList(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: rankedView,
    notes:
      'CURRENT is what "gpucloud profiles use" stored; IN FORCE is what commands use, which --profile\n' +
      'and GPUCLOUD_PROFILE may choose over it.',
    examples: ['gpucloud profiles list', 'gpucloud profiles list --json'],
  }).action((_flags, command) => listProfiles(frame.context(command)));
}

export async function listProfiles(context: Context): Promise<void> {
  const file = await (await context.config()).read();
  const force = inForce(context, file);
  const rows = profileNames(file).map((name) => ranked(shownProfile(file, name), force));
  await context.out.list(rows, rankedView);
  if ('refused' in force) {
    context.err.warn(`No profile is in force, and commands are refused: ${force.refused.message}`);
  } else {
    warnOfEnvironment(file.current ?? '', file, context);
  }
}
