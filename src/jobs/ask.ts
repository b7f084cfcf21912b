import { onCancel } from '../command-line/confirm.ts';
import { brokenBy, checked } from '../command-line/parse.ts';
import type { Context } from '../context.ts';
import { askRequest } from '../instances/ask/index.ts';
import { flag } from '../instances/ask/summary.ts';
import { type DeadlineFlags, wantedDeadline } from '../instances/deadlines/deadline.ts';
import type { MadeRequest } from '../instances/rent/body.ts';
import type { Given } from '../instances/rent/given.ts';
import type { Prompts } from '../prompts/prompts.ts';
import { anyName } from '../rules/names.ts';
import { durationWord, positiveDuration } from '../rules/times.ts';
import type { JobInput, JobPlan } from './job.ts';
import { copyOutText } from './targets.ts';

/** Asks for a missing command: one word, or a line for the instance's shell. */
export async function askCommand(prompts: Prompts): Promise<readonly string[]> {
  const check = brokenBy(anyName);
  const text = await onCancel('Nothing was rented.', () =>
    prompts.text('Command to run, such as python train.py', { check }),
  );
  const line = text.trim();
  return /^[\w./-]+$/.test(line) ? [line] : ['sh', '-c', line];
}

/** Asks for a missing deadline, since every job needs one. */
export async function askDeadline(ends: DeadlineFlags, prompts: Prompts): Promise<DeadlineFlags> {
  if (wantedDeadline(ends) !== undefined) return ends;
  const rule = (typed: string) => positiveDuration(typed.trim());
  const text = await onCancel('Nothing was rented.', () =>
    prompts.text('Terminate the instance after', { initial: '4h', check: brokenBy(rule) }),
  );
  return { ...ends, terminateAfter: checked('--terminate-after', text, rule) };
}

/**
 * Asks the questions of `instances create`, except template and drive. The SSH key must be able to
 * sign in.
 */
export async function askJob(
  input: JobInput & Pick<JobPlan, 'ends' | 'maxPrice'>,
  given: Given,
  dryRun: boolean,
  prompts: Prompts,
  context: Context,
): Promise<MadeRequest> {
  const { how, ends, maxPrice } = input;
  // Suggests a new name each time, since names can't be reused.
  const suggested = given.typed.name === undefined ? given.flags.name : undefined;
  const command = {
    start: (name?: string) => ['run', ...(name === suggested ? [] : flag('--name', name).flat())],
    end: () => wordsAfter(input),
  };
  const job = {
    isJob: true,
    copyOut: copyOutText(input),
    hasIdentity: how.identity !== undefined,
    count: input.here?.count,
  };
  return askRequest({ given, ends, maxPrice, dryRun, command, ...job }, prompts, context);
}

/** Lists the flags that only `run` has, and the command. */
function wordsAfter(input: JobInput): string[][] {
  const { sync, exclude, gitignore, fetch, fetchEvery, keepOnFailure, grace, report_file, detach } =
    input;
  const { how, command, passEnv, here, given } = input;
  const { setup, setupFile = [] } = given.flags;
  return [
    ...(here === undefined ? [] : [['--here']]),
    ...flag('--count', here?.count?.toString()),
    ...flag('--min-count', here?.minCount?.toString()),
    ...flag('--sync', sync),
    ...flag('--setup', setup),
    ...flag('--setup-file', ...setupFile),
    ...flag('--exclude', ...exclude),
    ...(gitignore ? [] : [['--no-gitignore']]),
    ...flag('--fetch', ...fetch.map(({ remote, local }) => `${remote}:${local}`)),
    ...(fetchEvery === undefined ? [] : [['--fetch-every', durationWord(fetchEvery)]]),
    ...(keepOnFailure === undefined ? [] : [['--keep-on-failure', durationWord(keepOnFailure)]]),
    ...(grace === undefined ? [] : [['--grace', durationWord(grace)]]),
    ...flag('--report', report_file ?? undefined),
    ...(detach ? [['--detach']] : []),
    ...flag('--pass-env', ...passEnv),
    ...flag('--identity', how.identity),
    ...flag('--user', how.user),
    ...flag('--ssh-option', ...how.options),
    ...flag('--ssh-arg', ...how.words),
    ['--', ...command],
  ];
}
