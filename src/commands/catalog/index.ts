import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { registerAdd } from './add.ts';
import { registerList } from './list.ts';
import { registerRemove } from './remove.ts';

/** The verbs of `gpucloud catalog`, in the order of the help. */
export function registerCatalog(group: AnyCommand, frame: Frame): void {
  registerList(group, frame);
  registerAdd(group, frame);
  registerRemove(group, frame);
}
