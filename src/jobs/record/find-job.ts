import type { Context } from '../../context.ts';
import { CliError, throwAll } from '../../errors.ts';
import { type Match, match } from '../../instances/match.ts';
import { otherAccountHint } from '../../instances/other-accounts.ts';
import { ambiguous, beginningWithYes } from '../../instances/resolve.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { relative } from '../../output/time.ts';
import { isSameName, typedName } from '../../rules/names.ts';
import { nearest } from '../../rules/nearest.ts';
import { type JobRecord, readAllJobs } from './record.ts';

/**
 * Finds the job on the instance with this name, ID or unique ID prefix: a job that has not ended
 * before one that has, then the newest. `changes` is set if the command changes something. Throws
 * CliError('notFound'), or 'storage' if a newer gpucloud may have started the job.
 */
export async function findJob(
  typed: string,
  context: Context,
  { changes = false } = {},
): Promise<JobRecord> {
  const { jobs, newer } = await readAllJobs(context);
  const found = match(typed, oneOfEach(jobs), (fitting, by) =>
    by === 'name' ? fitting.slice(0, 1) : fitting,
  );
  const [named, other] = found.fitting;
  if (other !== undefined) throw ambiguous(typed, found);
  if (named !== undefined) {
    if (changes && found.by !== 'name') await ensureMeant(typed, named, found.by, context);
    return named.job;
  }
  throwAll(newer);
  const near = nearest(
    typed,
    jobs.map(({ name }) => name),
  );
  const elsewhere = await otherAccountHint(typed, context);
  throw new CliError(
    'notFound',
    `INSTANCE "${typed}": no job was started on this instance from this computer for this account.`,
    {
      hint: `${elsewhere}${near === undefined ? '' : `did you mean ${near}? `}list jobs: ${gpucloud('jobs', 'list')}`,
      resource: typed,
    },
  );
}

interface Named {
  /** The instance's ID, or the job's own before it is rented. */
  readonly id: string;
  readonly name: string;
  readonly job: JobRecord;
}

/** Returns one job of each instance, those that have not ended first, then the newest. */
function oneOfEach(jobs: readonly JobRecord[]): Named[] {
  const isOpen = ({ ended_at }: JobRecord) => ended_at === null;
  const all = [...jobs.filter(isOpen), ...jobs.filter((job) => !isOpen(job))];
  const found = new Map<string, Named>();
  for (const job of all) {
    const id = job.id ?? job.uid;
    if (!found.has(id)) found.set(id, { id, name: job.name, job });
  }
  return [...found.values()];
}

/** Throws a usage error if the text is the name of another instance, or a prefix with --yes. */
async function ensureMeant(
  typed: string,
  job: Named,
  by: Match<Named>['by'],
  context: Context,
): Promise<void> {
  const { instances } = await (await context.journal()).read({ archived: true });
  const others = instances.filter(({ name }) => isSameName(name, typed));
  if (others.length > 0) throw ambiguous(typed, { by: 'both', fitting: [job, ...others] });
  if (by === 'beginning' && context.flags.yes) throw beginningWithYes(typed, job);
}

/** Throws CliError('wrongState') for an ended job. */
export function ensureOpen(job: JobRecord, context: Pick<Context, 'clock'>): JobRecord {
  const { id, name, ended_at, reason } = job;
  if (ended_at === null) return job;
  const when = relative(Date.parse(ended_at), context.clock.now());
  const why = reason === null ? '' : ` ${reason}`;
  throw new CliError('wrongState', `The job on ${name} ended ${when}.${why}`, {
    resource: id ?? name,
    ...(id === null
      ? {}
      : { hint: `see its output: ${gpucloud('jobs', 'logs', typedName(name, id))}` }),
  });
}
