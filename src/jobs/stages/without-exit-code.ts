import { CliError } from '../../errors.ts';
import type { JobRecord } from '../record/record.ts';
import type { Stops } from '../stops.ts';

/** Returns the error for a command without an exit code. */
export function withoutExitCode(
  { half }: Pick<Stops, 'half'>,
  record?: Pick<JobRecord, 'command_started_at' | 'here'>,
): CliError {
  if (record?.here === true) return new CliError('runFailed', 'The run was killed.');
  if (record?.command_started_at === null) {
    return new CliError('runFailed', 'The command was never started.');
  }
  const reason = half.aborted
    ? 'The command did not exit after SIGINT, and the deadline is near.'
    : 'The command was killed together with its supervisor.';
  return new CliError('runFailed', reason);
}
