import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { registerListVerb } from '../kit/list-verb.ts';
import { sshKeyView } from './view.ts';

export function registerList(verb: AnyCommand, frame: Frame): void {
  registerListVerb(verb, frame, {
    examples: ['gpucloud ssh-keys list', 'gpucloud ssh-keys list --columns name,public_key'],
    view: sshKeyView,
    read: (api) => api.sshKeys.list(),
  });
}
