import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { registerGet } from './get.ts';
import { registerList } from './list.ts';

/** The verbs of `gpucloud templates`, in the order of the help. */
export function registerTemplates(group: AnyCommand, frame: Frame): void {
  registerList(group, frame);
  registerGet(group, frame);
}
