import { CliError } from '../../errors.ts';
import type { Job } from '../job.ts';

/** Returns the error for a command without an exit code. */
export function withoutExitCode({
  stops,
  record,
  by,
  seen,
}: Pick<Job, 'stops' | 'record' | 'by' | 'seen'>): CliError {
  const { half } = stops;
  if (record.here && by !== 'run') return new CliError('runFailed', 'The run was killed.');
  if (record.command_started_at === null) {
    return new CliError('runFailed', 'The command was never started.');
  }
  if (seen.kind === 'running' && !half.aborted && !record.here) {
    return new CliError('runFailed', 'The command was still running at the deadline.');
  }
  const reason =
    half.aborted || record.here
      ? 'The command did not exit after SIGINT, and the deadline is near.'
      : 'The command was killed together with its supervisor.';
  return new CliError('runFailed', reason);
}
