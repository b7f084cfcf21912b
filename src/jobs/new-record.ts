import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { ownJournal } from '../instances/recover/pending.ts';
import { serviceName } from '../instances/rent/account.ts';
import { shownSetup } from './command.ts';
import type { Fetch } from './files/copy-out.ts';
import type { JobPlan } from './job.ts';
import { timeNow } from './record/note.ts';
import type { JobRecord, StoredFetch } from './record/record.ts';
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
type Start = Pick<JobRecord, 'id' | 'name' | 'on' | 'here' | 'sync' | 'grace'>;

/** Builds the record of a job that begins now. */
export async function newRecord(given: Given, start: Start, context: Context): Promise<JobRecord> {
  const { command, toStart, exclude, gitignore, fetch, fetchEvery } = given;
  const { keepOnFailure, report_file, how } = given;
  const started_at = timeNow(context);
  const account = (await (await ownJournal(context)).account()) ?? null;
  return {
    version: 2,
    uid: randomUUID(),
    service: await serviceName(context),
    account,
    ...start,
    command,
    variables: toStart.variables.map(({ key }) => key),
    setup: shownSetup(toStart) ?? null,
    exclude,
    gitignore,
    fetch: storedFetch(fetch),
    fetch_every: fetchEvery ?? null,
    keep_on_failure: keepOnFailure ?? null,
    report_file,
    identity: how.identity ?? null,
    user: how.user ?? null,
    ssh_options: how.options,
    ssh_words: how.words,
    home: null,
    printed: { out: 0, err: 0 },
    started_at,
    requested_at: null,
    rented_at: null,
    signed_in_at: null,
    copied_at: null,
    command_started_at: null,
    shown_at: null,
    exited_at: null,
    // The output of `--here` goes to this terminal only.
    output_kept_at: start.here ? started_at : null,
    lost_at: null,
    ending_at: null,
    ended_at: null,
    reason: null,
    exit_code: null,
    setup_exit_code: null,
    gpu: null,
    kept: null,
    report: null,
  };
}

export function storedFetch(fetch: readonly Fetch[]): StoredFetch[] {
  return fetch.map(({ remote, local }) => ({ remote, local: absolute(local), fetched_at: null }));
}
