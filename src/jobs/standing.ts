import type { OpenJob } from '../money/findings.ts';
import { clamp } from '../output/width.ts';
import { typedName } from '../rules/names.ts';
import { copyWords } from './end/end-job.ts';
import { copiedBack, hasFailedSetup, type JobRecord, type RentedRecord } from './record/record.ts';

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
  const { exit_code, kept, fetch } = job;
  const isMissing = job.uncopied?.isMissing === true;
  if (job.ended_at !== null) {
    if (hasFailedSetup(job) || fetch.every(({ fetched_at }) => fetched_at !== null)) return 'ended';
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

/** Returns what a job that has not ended needs, and what ends the paying for its instance. */
export function needOf(
  job: RentedRecord & Pick<OpenJob, 'isFollowed'>,
  word: Standing,
): Pick<OpenJob, 'problem' | 'ends'> {
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
      return need('job_unfollowed', what, `reach the ${back}`, start, [
        ...ends(start, `reach the ${back}`),
        ...ends(['instances', 'terminate', typed], `give the ${back} up`),
      ]);
    }
    case 'refused': {
      const why = clamp(job.sign_in_refused ?? '', 80);
      const what = `"instances reap" can't finish the job of ${name} (${why})`;
      return need('job_sign_in', what, 'finish it', attach);
    }
    case 'missing': {
      const what = `${name}: ${clamp((job.uncopied?.why ?? '').replace(/\.$/, ''), 120)}`;
      // Without --no-fetch, `jobs stop` keeps the instance, since the path may be wrong.
      const giveUp = ends([...stop, '--no-fetch'], 'give the results up');
      return need('job_results', what, 'copy another path', copyWords(typed, job), giveUp);
    }
    case 'results': {
      const what = `${name} still has the ${back} of its job`;
      return need('job_results', what, `copy the ${back}${andEnd}`, attach);
    }
    case 'lost': {
      const what = `The command on ${name} disappeared without an exit code`;
      return need('job_lost', what, `copy its ${back}${andEnd}`, stop);
    }
    default:
      return { ends: word === 'open' ? stops : [] };
  }
}
