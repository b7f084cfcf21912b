import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import { doctor } from './doctor.ts';
import { checkView } from './view.ts';

/** `gpucloud doctor`: a verb of the root. */
export function registerDoctor(command: AnyCommand, frame: Frame): void {
  describe(command, {
    view: checkView,
    notes:
      'Each check is pass, warn or fail; the exit code is 0 when none failed, else 1. All of it\n' +
      'together takes no longer than --timeout. Nothing is changed and nothing is billed.\n\n' +
      'JSON: {"checks": [{"id", "status": "pass"|"warn"|"fail", "message", "hint"}], "ok"}\n' +
      'where hint may be null, and ok says that no check failed.',
    examples: [
      'gpucloud doctor',
      'gpucloud --profile work doctor --timeout 10s',
      'gpucloud doctor --json | jq \'.checks[] | select(.status != "pass")\'',
    ],
  }).action((_flags, own) => doctor(frame.context(own)));
}
