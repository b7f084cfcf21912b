import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { registerGet } from './get.ts';
import { registerSetPassword } from './set-password.ts';
import { registerUpdate } from './update.ts';

/** The verbs of `gpucloud me`, in the order of the help. */
export function registerMe(group: AnyCommand, frame: Frame): void {
  registerGet(group, frame);
  registerUpdate(group, frame);
  registerSetPassword(group, frame);
}
