import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { registerGetVerb } from '../../cli/get-verb.ts';
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
