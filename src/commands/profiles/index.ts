import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { registerAdd } from './add.ts';
import { registerGet } from './get.ts';
import { registerList } from './list.ts';
import { registerMove } from './move.ts';
import { registerRemove } from './remove.ts';
import { registerUse } from './use.ts';

export function registerProfiles(group: AnyCommand, frame: Frame): void {
  registerList(group, frame);
  registerGet(group, frame);
  registerUse(group, frame);
  registerAdd(group, frame);
  registerMove(group, frame);
  registerRemove(group, frame);
}
