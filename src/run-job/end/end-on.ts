import { CliError, isInterrupt } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import type { Job } from '../job.ts';
import { progressOf, runFailed } from './end-job.ts';
import type { JobEnd } from './report.ts';

/** Finishes a job of `--on`. Never terminates its instance. */
export function endOn(job: Job, failure: CliError | undefined): JobEnd {
  const { by, phases, collection } = job;
  const end = { ...progressOf(job), terminated: false } as const;
  if (failure === undefined) return { ...end, stage: 'done', isOver: true, error: undefined };
  const stage = phases.current;
  const starts = by === 'run' || by === 'detach';
  const isOver =
    collection === 'done' ||
    (starts && stage !== 'running' && stage !== 'fetching') ||
    // A path missing on the instance can't be copied later. A full disk can be fixed.
    (by === 'reap' && failure.failure === 'notFound');
  return { ...end, stage, isOver, error: isOver ? runFailed(failure) : left(job, failure) };
}

/**
 * Returns the error for a command that may still run, or whose results are still on the instance.
 */
function left({ record, exitCode }: Job, cause: CliError): CliError {
  const { id, name } = record;
  const typed = typedName(name, id);
  const hint = `follow it again: ${gpucloud('jobs', 'attach', typed)}`;
  const state =
    exitCode === undefined ? 'Its command may still run' : `Its command exited with ${exitCode}`;
  if (isInterrupt(cause)) {
    const message = `Stopped following ${name}. ${state}.`;
    return cause.with(message, { hint: `${hint}; stop it: ${gpucloud('jobs', 'stop', typed)}` });
  }
  const end = /[.!?]$/.test(cause.message) ? '' : '.';
  const rest = exitCode === undefined ? state : 'Its results are still on the instance';
  return new CliError('runFailed', `${name}: ${cause.message}${end} ${rest}.`, { hint, cause });
}
