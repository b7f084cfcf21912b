import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { undocumented } from '../kit/undocumented.ts';
import { registerCreate } from './create.ts';
import { registerGet } from './get.ts';
import { registerList } from './list.ts';
import { registerResume } from './resume.ts';
import { registerUpdate } from './update.ts';

const NO_END =
  'a smaller one costs less: "gpucloud drives update DRIVE --size 1"; to end it, ask the service';

/** The verbs of `gpucloud drives`, in the order of the help. */
export function registerDrives(group: AnyCommand, frame: Frame): void {
  registerList(group, frame);
  registerGet(group, frame);
  registerCreate(group, frame);
  registerUpdate(group, frame);
  registerResume(group, frame);
  undocumented(group, {
    delete: NO_END,
    rm: NO_END,
    attach:
      'a drive is given to a machine as it is created: "gpucloud instances create --drive DRIVE"',
    detach: 'the nearest is to end its machine: "gpucloud instances terminate INSTANCE"',
  });
}
