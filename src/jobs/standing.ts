import type { OpenJob } from '../money/findings.ts';
import { gpucloud } from '../output/shell-line.ts';
import { clamp } from '../output/width.ts';
import { typedName } from '../rules/names.ts';
import { copiedBack, isFetched, type JobRecord, type RentedRecord } from './record/record.ts';
import { WORK } from './remote/supervisor.ts';

/**
 * How a job stands by its record, in the word that all screens share. `stopped`: its instance is, so
 * that nothing runs or can be copied. `refused`: the instance refuses the sign-in of `reap`.
 * `missing`: a path of `--fetch` is not there. `results`: they may be only on the instance. `kept`:
 * for a person, with all results here. `incomplete`: ended without its results.
 */
export type Standing =
  | 'open'
  | 'stopped'
  | 'refused'
  | 'missing'
  | 'results'
  | 'lost'
  | 'kept'
  | 'ended'
  | 'incomplete';

/** `status`: the instance's last known status. */
export function standingOf(job: JobRecord, status?: string | null): Standing {
  const { exit_code, kept } = job;
  const isMissing = job.uncopied?.isMissing === true;
  if (job.ended_at !== null) {
    if (isFetched(job)) return 'ended';
    // A failed command often has not written its results, and who terminates an instance without
    // gpucloud gives them up.
    const isGivenUp =
      exit_code === null
        ? job.command_started_at === null || job.ending_at === null
        : exit_code !== 0 && isMissing;
    return isGivenUp ? 'ended' : 'incomplete';
  }
  if (kept === 'command') return 'kept';
  if (status === 'STOPPED') return 'stopped';
  if (job.sign_in_refused != null) return 'refused';
  if (exit_code !== null || kept === 'results') return isMissing ? 'missing' : 'results';
  return job.lost_at === null ? 'open' : 'lost';
}

type Need = Pick<OpenJob, 'problem' | 'ends'>;

/** Returns what a job that has not ended needs, and what ends the paying for its instance. */
export function needOf(
  job: RentedRecord & Partial<Pick<OpenJob, 'isFollowed'>>,
  word: Standing,
): Need {
  const typed = typedName(job.name, job.id);
  const name = clamp(job.name, 40);
  const back = copiedBack(job);
  const andEnd = job.on ? '' : ` and terminate ${name}`;
  const ends = (words: readonly string[], purpose: string) =>
    job.on || job.here ? [] : [{ words, purpose }];
  const attach = ['jobs', 'attach', typed];
  const stop = ['jobs', 'stop', typed];
  const stops = ends(stop, 'stop paying');
  const need = (code: string, what: string, to: string, next: readonly string[], by = stops) => ({
    problem: { code, resource: job.id, what, to, next },
    ends: by,
  });
  switch (word) {
    case 'stopped': {
      const what = `${name} is STOPPED, and still has the ${back} of its job`;
      const start = ['instances', 'start', typed, '--wait=ssh'];
      // `jobs stop` copies nothing from there.
      return need('job_unfollowed', what, `reach the ${back} (this bills)`, start, [
        ...ends(start, `reach the ${back}`),
        ...ends(['instances', 'terminate', typed], `give the ${back} up`),
      ]);
    }
    case 'refused': {
      // The process that follows the job has signed in.
      if (job.isFollowed) return { ends: stops };
      const why = clamp(`${job.sign_in_refused}`, 80);
      const what = `"instances reap" can't finish the job of ${name} (${why})`;
      return need('job_sign_in', what, 'finish it', attach);
    }
    case 'missing': {
      const what = `${name}: ${clamp(`${job.uncopied?.why}`.replace(/\.$/, ''), 120)}`;
      // Without --no-fetch, `jobs stop` keeps the instance, since the path may be wrong.
      const giveUp = ends([...stop, '--no-fetch'], 'give the results up');
      return need('job_results', what, 'copy another path', copyWords(typed, job), giveUp);
    }
    case 'results': {
      const what = `${name} still has the ${back} of its job`;
      // Only `jobs stop` takes over from a process that follows the job.
      const next = job.isFollowed ? stop : attach;
      return need('job_results', what, `copy the ${back}${andEnd}`, next);
    }
    case 'lost': {
      const what = `The command on ${name} disappeared without an exit code`;
      return need('job_lost', what, `copy its ${back}${andEnd}`, stop);
    }
    default:
      return { ends: word === 'open' ? stops : [] };
  }
}

/** Returns the hint of an error for a need: what to do next, and what ends the paying. */
export function hintOf({ problem, ends }: Need): string {
  const first = problem && { purpose: problem.to, words: problem.next };
  const others = ends.filter(({ words }) => words !== first?.words);
  const all = [first ?? [], others].flat();
  return all.map(({ words, purpose }) => `${purpose}: ${gpucloud(...words)}`).join('; ');
}

/** Returns the words that copy another path, also beside a process that follows the job. */
export function copyWords(
  typed: string,
  { isFollowed = false }: Partial<Pick<OpenJob, 'isFollowed'>>,
) {
  return isFollowed
    ? ['instances', 'scp', '-r', `${typed}:${WORK}/PATH`, '.']
    : ['jobs', 'attach', typed, '--fetch', 'PATH'];
}
