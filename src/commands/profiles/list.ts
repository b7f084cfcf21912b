import { profileNames } from '../../config/file.ts';
import type { Context } from '../../context.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { profileView, shownProfile, warnOfEnvironment } from '../kit/profile.ts';
import { describe } from '../kit/verb.ts';

export function registerList(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    examples: ['gpucloud profiles list', 'gpucloud profiles list --json'],
  }).action((_flags, command) => listProfiles(frame.context(command)));
}

export async function listProfiles(context: Context): Promise<void> {
  const file = await (await context.config()).read();
  const rows = profileNames(file).map((name) => shownProfile(file, name));
  await context.out.list(rows, profileView);
  warnOfEnvironment(file.current ?? '', context);
}
