import { CliError } from '../../errors.ts';
import type { Stops } from '../stops.ts';

/** Returns the error for a command without an exit code whose results were copied. */
export function withoutExitCode({ half }: Pick<Stops, 'half'>): CliError {
  const reason = half.aborted
    ? 'The command did not exit after SIGINT, and the deadline is near.'
    : 'The command was killed together with its supervisor.';
  return new CliError('runFailed', reason);
}
