import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import { logout } from './logout.ts';

/** `gpucloud logout`: a verb of the root. */
export function registerLogout(command: AnyCommand, frame: Frame): void {
  describe(command, {
    notes:
      'The profile keeps its base URL. The key itself still works: the API of the service documents no way to revoke one.',
    examples: ['gpucloud logout', 'gpucloud logout --profile work'],
  }).action((_flags, own) => logout(frame.context(own)));
}
