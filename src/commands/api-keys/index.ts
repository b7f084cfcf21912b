import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { undocumented } from '../kit/undocumented.ts';
import { registerCreate } from './create.ts';
import { registerList } from './list.ts';

/** The verbs of `gpucloud api-keys`, in the order of the help. */
export function registerApiKeys(group: AnyCommand, frame: Frame): void {
  registerList(group, frame);
  registerCreate(group, frame);
  const forget = '"gpucloud logout" forgets a key on this computer; the key itself goes on working';
  undocumented(group, {
    delete: forget,
    rm: forget,
    revoke: forget,
    update: 'create another key: "gpucloud api-keys create NAME"',
    rotate:
      'create another key and keep it: "gpucloud api-keys create NAME --save-profile PROFILE"',
  });
}
