import type { OpenJob } from '../money/findings.ts';
import { clamp } from '../output/width.ts';
import { typedName } from '../rules/names.ts';
import { copyWords } from './end/end-job.ts';
import { hasFailedSetup, type JobRecord, type RentedRecord } from './record/record.ts';

/** How a job stands by its record, in the word that all screens share. */
export type Standing =
  /** The command may run, or was not started. */
  | 'open'
  /** The instance is STOPPED: nothing runs there, and nothing can be copied. */
  | 'stopped'
  /** The instance refuses the sign-in of `reap`. */
  | 'refused'
  /** A path of `--fetch` does not exist on the instance. */
  | 'missing'
  /** The command is over, and its results or output may be only on the instance. */
  | 'results'
  /** The command disappeared without an exit code. */
  | 'lost'
  /** Kept for a person: this computer has all results. */
  | 'kept'
  | 'ended'
  /** Ended without its results. */
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
  const ended = job.on ? '' : ` and terminate ${name}`;
  const attach = ['jobs', 'attach', typed];
  const start = ['instances', 'start', typed, '--wait=ssh'];
  const ends = (words: readonly string[], purpose: string) =>
    job.on || job.here ? [] : [{ words, purpose }];
  const stop = ends(['jobs', 'stop', typed], 'stop paying');
  const GIVE_UP = 'give the results up';
  switch (word) {
    case 'stopped': {
      const what = `${name} is STOPPED, and the output and results of its job are not copied`;
      return {
        problem: { code: 'job_unfollowed', what, to: 'reach them', next: start },
        // `jobs stop` copies nothing from there.
        ends: [
          ...ends(start, 'reach the results'),
          ...ends(['instances', 'terminate', typed], GIVE_UP),
        ],
      };
    }
    case 'refused': {
      const why = clamp(job.sign_in_refused ?? '', 80);
      const what = `"instances reap" can't finish the job of ${name} (${why})`;
      return { problem: { code: 'job_sign_in', what, to: 'finish it', next: attach }, ends: stop };
    }
    case 'missing': {
      const what = `${name}: ${clamp((job.uncopied?.why ?? '').replace(/\.$/, ''), 120)}`;
      const next = copyWords(typed, job);
      return {
        problem: { code: 'job_results', what, to: 'copy another path', next },
        // Without --no-fetch, it keeps the instance, since the path may be wrong.
        ends: ends(['jobs', 'stop', typed, '--no-fetch'], GIVE_UP),
      };
    }
    case 'results': {
      const what = `The results of ${name} are still on the instance`;
      const to = `copy them${ended}`;
      return { problem: { code: 'job_results', what, to, next: attach }, ends: stop };
    }
    case 'lost': {
      const what = `The command on ${name} disappeared without an exit code`;
      const next = ['jobs', 'stop', typed];
      const to = `copy its results${ended}`;
      return { problem: { code: 'job_lost', what, to, next }, ends: stop };
    }
    default:
      return { ends: word === 'open' ? stop : [] };
  }
}
