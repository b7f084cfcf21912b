import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { registerGetVerb } from '../kit/get-verb.ts';
import { findKey } from './find.ts';
import { sshKeyView } from './view.ts';

export function registerGet(verb: AnyCommand, frame: Frame): void {
  registerGetVerb(verb, frame, {
    notes: 'The published API reads no single key: it is looked up in the list.',
    examples: [
      'gpucloud ssh-keys get laptop',
      'gpucloud ssh-keys get laptop --columns public_key --no-header',
    ],
    argument: 'key',
    completes: { key: 'ssh-key' },
    argumentHelp: 'name, id, beginning of an id, or fingerprint',
    view: sshKeyView,
    read: (api, typed) => findKey(typed, () => api.sshKeys.list()),
  });
}
