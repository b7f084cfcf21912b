import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { undocumented } from '../kit/undocumented.ts';
import { registerCreate } from './create.ts';
import { registerEvents } from './events.ts';
import { registerGet } from './get.ts';
import { registerList } from './list.ts';
import { registerEndpoints } from './list-endpoints.ts';
import { registerOpen } from './open.ts';
import { registerRecover } from './recover.ts';
import { registerReorder } from './reorder.ts';
import { registerScp } from './scp.ts';
import { registerSecrets } from './secrets.ts';
import { registerSsh } from './ssh.ts';
import { registerSshConfig } from './ssh-config.ts';
import { registerStart } from './start.ts';
import { registerStop } from './stop.ts';
import { registerTerminate } from './terminate.ts';
import { registerTrack } from './track.ts';
import { registerExport, registerImport } from './transfer.ts';
import { registerTunnel } from './tunnel.ts';
import { registerUntrack } from './untrack.ts';
import { registerWait } from './wait.ts';

const RESTART =
  'use "gpucloud instances stop NAME --wait" and then "gpucloud instances start NAME"';

/** The verbs of `gpucloud instances`, in the order of the help. */
export function registerInstances(group: AnyCommand, frame: Frame): void {
  registerList(group, frame);
  registerGet(group, frame);
  registerCreate(group, frame);
  registerReorder(group, frame);
  registerStart(group, frame);
  registerStop(group, frame);
  registerTerminate(group, frame);
  registerEvents(group, frame);
  registerWait(group, frame);
  registerSsh(group, frame);
  registerScp(group, frame);
  registerTunnel(group, frame);
  registerSshConfig(group, frame);
  registerEndpoints(group, frame);
  registerSecrets(group, frame);
  registerOpen(group, frame);
  registerRecover(group, frame);
  registerTrack(group, frame);
  registerUntrack(group, frame);
  registerExport(group, frame);
  registerImport(group, frame);
  undocumented(group, {
    reboot: RESTART,
    restart: RESTART,
    delete: 'the nearest is to end it: "gpucloud instances terminate NAME"',
    rename: 'a machine keeps its name; "gpucloud instances reorder" gives a new one a new name',
    resize: 'create a machine from another offer',
  });
}
