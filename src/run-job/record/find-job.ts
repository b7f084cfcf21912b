import { beginningSo, calledSo } from '../../cli/lookup.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { relative } from '../../output/time.ts';
import { isSameName, typedName } from '../../rules/names.ts';
import { nearest } from '../../rules/nearest.ts';
import { type JobRecord, readJobs } from './record.ts';

/** Finds the last job on the instance with this name, ID or unique ID prefix. Throws CliError('notFound'). */
export async function findJob(typed: string, context: Context): Promise<JobRecord> {
  const jobs = await readJobs(context);
  const named = calledSo(typed, jobs);
  const called = named.length > 0 ? named : jobs.filter(({ name }) => isSameName(name, typed));
  // `called` is sorted newest first.
  if (called[0] !== undefined) return called[0];
  const [first, ...others] = beginningSo(typed, jobs);
  if (others.length > 0)
    throw usageError(`INSTANCE "${typed}" is ambiguous: several IDs start with it`);
  if (first !== undefined) return first;
  const near = nearest(
    typed,
    jobs.map(({ name }) => name),
  );
  throw new CliError(
    'notFound',
    `INSTANCE "${typed}": no job was started on this instance from this computer.`,
    {
      hint: `${near === undefined ? '' : `did you mean ${near}? `}list jobs: ${gpucloud('jobs', 'list')}`,
      resource: typed,
    },
  );
}

/** Throws CliError('wrongState') for an ended job. */
export function ensureOpen(job: JobRecord, context: Pick<Context, 'clock'>): JobRecord {
  const { id, name, ended_at } = job;
  if (ended_at === null) return job;
  const when = relative(Date.parse(ended_at), context.clock.now());
  throw new CliError('wrongState', `The job on ${name} ended ${when}.`, {
    resource: id,
    hint: `see its output: ${gpucloud('jobs', 'logs', typedName(name, id))}`,
  });
}
