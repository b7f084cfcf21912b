import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { undocumented } from '../kit/undocumented.ts';
import { registerAdd } from './add.ts';
import { registerDelete } from './delete.ts';
import { registerGet } from './get.ts';
import { registerList } from './list.ts';

/** The verbs of `gpucloud ssh-keys`, in the order of the help. */
export function registerSshKeys(group: AnyCommand, frame: Frame): void {
  registerList(group, frame);
  registerGet(group, frame);
  registerAdd(group, frame);
  registerDelete(group, frame);
  undocumented(group, {
    update: 'delete the key and add it again: "gpucloud ssh-keys delete", "gpucloud ssh-keys add"',
    rename: 'delete the key and add it again with --name',
  });
}
