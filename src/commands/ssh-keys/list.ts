import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { registerListVerb } from '../../cli/list-verb.ts';
import { sshKeyView } from './view.ts';

export function registerList(verb: AnyCommand, frame: Frame): void {
  registerListVerb(verb, frame, {
    examples: ['gpucloud ssh-keys list', 'gpucloud ssh-keys list --columns name,public_key'],
    view: sshKeyView,
    read: (api) => api.sshKeys.list(),
  });
}
