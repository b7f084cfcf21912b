import type { JobPlan } from './job.ts';
import type { JobRecord } from './record/record.ts';
import { absolute } from './targets.ts';

type Given = Pick<
  JobPlan,
  | 'toStart'
  | 'command'
  | 'exclude'
  | 'gitignore'
  | 'fetch'
  | 'fetchEvery'
  | 'keepOnFailure'
  | 'report_file'
  | 'how'
>;
type Start = Pick<JobRecord, 'id' | 'name' | 'on' | 'sync' | 'grace' | 'started_at'>;

export function newRecord(given: Given, start: Start): JobRecord {
  const { command, toStart, exclude, gitignore, fetch, fetchEvery } = given;
  const { keepOnFailure, report_file, how } = given;
  return {
    version: 1,
    ...start,
    command,
    variables: toStart.variables.map(({ key }) => key),
    exclude,
    gitignore,
    fetch: fetch.map(({ remote, local }) => ({ remote, local: absolute(local) })),
    fetch_every: fetchEvery ?? null,
    keep_on_failure: keepOnFailure ?? null,
    report_file,
    identity: how.identity ?? null,
    user: how.user ?? null,
    ssh_options: how.options,
    ssh_words: how.words,
    printed: { out: 0, err: 0 },
    cut: { out: 0, err: 0 },
    exit_code: null,
    kept: null,
    lost_at: null,
    ended_at: null,
    report: null,
  };
}
