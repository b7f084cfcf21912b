import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { type Match, match } from '../../instances/match.ts';
import { ambiguous, beginningWithYes } from '../../instances/resolve.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { relative } from '../../output/time.ts';
import { isSameName, typedName } from '../../rules/names.ts';
import { nearest } from '../../rules/nearest.ts';
import { type JobRecord, readJobs } from './record.ts';

/**
 * Finds the last job on the instance with this name, ID or unique ID prefix. `changes` is set if
 * the command changes something. Throws CliError('notFound').
 */
export async function findJob(
  typed: string,
  context: Context,
  { changes = false } = {},
): Promise<JobRecord> {
  const jobs = await readJobs(context);
  // `jobs` is sorted newest first.
  const found = match(typed, jobs, (fitting, by) =>
    by === 'name' ? fitting.slice(0, 1) : fitting,
  );
  const [job, other] = found.fitting;
  if (other !== undefined) throw ambiguous(typed, found);
  if (job !== undefined) {
    if (changes && found.by !== 'name') await ensureMeant(typed, job, found.by, context);
    return job;
  }
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

/** Throws a usage error if the text is the name of another instance, or a prefix with --yes. */
async function ensureMeant(
  typed: string,
  job: JobRecord,
  by: Match<JobRecord>['by'],
  context: Context,
): Promise<void> {
  const { instances } = await (await context.journal()).read({ archived: true });
  const others = instances.filter(({ id, name }) => isSameName(name, typed) && id !== job.id);
  if (others.length > 0) throw ambiguous(typed, { by: 'both', fitting: [job, ...others] });
  if (by === 'beginning' && context.flags.yes) throw beginningWithYes(typed, job);
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
