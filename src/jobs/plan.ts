import { posix, resolve } from 'node:path';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { keyChooser } from '../instances/ask/keys.ts';
import {
  type CheckedEnds,
  checkDeadline,
  type DeadlineFlags,
  onItsDay,
  wantedDeadline,
} from '../instances/deadlines/deadline.ts';
import { ensureNoPending } from '../instances/recover/pending.ts';
import { noteAccount } from '../instances/rent/account.ts';
import { makeRequest, missingError, missingFlags } from '../instances/rent/body.ts';
import { checkCount, numberedNames } from '../instances/rent/count.ts';
import type { Given } from '../instances/rent/given.ts';
import { notePrice } from '../instances/rent/hardware.ts';
import { warnBeforeRenting } from '../instances/rent/planned.ts';
import { shellLine } from '../output/shell-line.ts';
import { askDeadline, askJob } from './ask.ts';
import { commandOf, ensureWords, noteUncopied, shownWords } from './command.ts';
import { leftText } from './files/copy-out.ts';
import { type Entry, type FileList, listFiles, type Overview, overviewOf } from './files/files.ts';
import { containsHome } from './files/merge.ts';
import { matcherOf } from './files/pattern.ts';
import { localCommandOf } from './here/local-command.ts';
import { noteLocal } from './here/note-local.ts';
import type { Here, JobInput, JobPlan } from './job.ts';
import { filesText, largestText, leftOutText } from './phases.ts';
import { ensureRescueKey, withRescue } from './rescue/wanted.ts';
import { ensureOwnTargets } from './same-target.ts';
import { ensureSignIn, ensureSsh } from './sign-in.ts';
import { copyOutText, ensureTargets, fetchInto } from './targets.ts';

const NAMED = 5;

/** Runs all possible checks before renting. Throws CliError. */
export async function planJob(
  input: JobInput,
  { dryRun }: { readonly dryRun: boolean },
  context: Context,
): Promise<JobPlan> {
  await noteAccount(context);
  const { given: read } = input;
  if (input.here !== undefined) checkCount(read);
  const { toStart, ...checked } = await checkInput(input, read, context);
  // With --here, each instance has a folder of its name.
  if (input.here === undefined) {
    const from = (at: number) => read.from('fetch', at);
    await ensureOwnTargets(input.fetch, { name: read.flags.name, from }, context);
  }
  const command = shownWords(toStart);
  if (input.here !== undefined) noteLocal(command, { ...input.here, fetch: input.fetch }, context);
  else if (input.sync === undefined) {
    const isResult = (path: string) =>
      oldResults(input.fetch, [{ path: posix.normalize(path), kind: 'file' }]).length > 0;
    noteUncopied(command, isResult, context);
  }
  const requested = await requestOf({ ...input, command }, read, dryRun, context);
  const names = namesOf(requested.request.instance_name, input.here);
  const { terminateAfter } = requested.ends;
  if (terminateAfter !== undefined) ensureGrace(input, terminateAfter);
  const how = await ensureSignIn(requested.request, input, context);
  if (input.how.identity === undefined) {
    await ensureRescueKey(requested.ends, requested.request.ssh_keys, context);
  }
  return { ...input, ...requested, names, command, toStart, how, ...checked };
}

/** Throws a usage error for a grace period that leaves the command no time. */
export function ensureGrace({ grace, given }: JobInput, time: number): void {
  if (grace === undefined || grace < time) return;
  throw usageError(`${given.from('grace')} must be shorter than the time until the deadline`);
}

/** Returns the names of all instances, numbered if there are several. */
function namesOf(name: string, here: Here | undefined): string[] {
  return here?.count === undefined ? [name] : numberedNames(name, here.count);
}

/** Checks the command, the copies and ssh on this computer. Throws CliError. */
export async function checkInput(
  { command, passEnv, sync, exclude, gitignore, fetch, fetchEvery, here, how }: JobInput,
  read: Given,
  context: Context,
): Promise<Pick<JobPlan, 'toStart' | 'files' | 'overview'>> {
  // An empty word comes from an unset variable of a script.
  if ((command[0] ?? '') === '') {
    throw usageError(
      read.file === undefined
        ? 'COMMAND is missing: put it after --, as in -- python train.py'
        : `${read.file} has no command: add "command" to it, or put COMMAND after --`,
    );
  }
  const toStart =
    here === undefined
      ? await commandOf(command, passEnv, read, context)
      : await localCommandOf(command, read, context);
  ensureWords(toStart, sync ?? '.');
  if (fetchEvery !== undefined && fetch.length === 0)
    throw usageError(`${read.from('fetchEvery')} needs --fetch`);
  // A generated name is new, so no folder with this name exists.
  const names = namesOf(read.flags.name ?? 'new-run', here);
  const targets = here === undefined ? fetch : names.flatMap((name) => fetchInto(fetch, name));
  await ensureTargets(targets, (at) => read.from('fetch', at % fetch.length), context.host);
  if (sync !== undefined) await ensureNotHome(read.from('sync'), resolve(sync), context);
  const files =
    sync === undefined
      ? undefined
      : await listFiles(resolve(sync), { exclude, gitignore, flag: read.from('sync') });
  await ensureSsh(how, context);
  if (files === undefined) return { toStart, files, overview: undefined };
  const overview = await overviewOf(files);
  noteFiles(files, overview, context);
  warnOfOldResults(fetch, files, context);
  return { toStart, files, overview };
}

/** Refuses to copy the home folder: it has the private SSH keys and gpucloud's API keys. */
async function ensureNotHome(flag: string, folder: string, { host }: Context): Promise<void> {
  // Listing a folder that can't be read fails with its reason.
  if (!(await containsHome(folder, host.home).catch(() => false))) return;
  throw usageError(`${flag} can't be ${folder}, which contains your home folder and its keys`);
}

type Requested = Pick<
  JobPlan,
  'ends' | 'maxPrice' | 'request' | 'offers' | 'from_profile' | 'retryFor'
>;

/**
 * Builds the request for the instance, with its deadline. In a terminal, asks for missing values.
 */
async function requestOf(
  input: JobInput,
  read: Given,
  dryRun: boolean,
  context: Context,
): Promise<Requested> {
  const { dockerImage, env, envFile } = read.flags;
  const flags = {
    ...read.flags,
    name: read.flags.name ?? defaultName(context),
    // Without a container, the variables belong to the command.
    env: dockerImage === undefined ? undefined : env,
    envFile: dockerImage === undefined ? undefined : envFile,
  };
  const given = { ...read, flags };
  const { maxPrice, retryFor } = flags;
  const missing = missingFlags(flags);
  // If the file comes from stdin, stdin can't also provide answers.
  const prompts = flags.file === '-' ? undefined : await context.prompts();
  if (prompts === undefined) ensureComplete(missing, flags);
  const asked = prompts === undefined ? flags : await askDeadline(flags, prompts);
  const ends: CheckedEnds = await withRescue(asked, namesOf(flags.name, input.here), context, {
    from: (item) => read.from('rescue', item),
    path: (local) => read.path('rescue', local),
  });
  if (needsReap({ ...input, ends }))
    await checkDeadline(ends, context, input.detach ? ['job'] : []);
  for (const name of namesOf(flags.name, input.here)) await ensureNoPending(name, context);
  const typedRequest = async () => {
    const need = { flags, until: undefined, dryRun, isJob: true };
    const hasIdentity = input.how.identity !== undefined;
    const choose = keyChooser({ ...need, hasIdentity }, context);
    const made = await makeRequest(given, context, choose);
    // Whoever copies a folder in probably wants files back. The plan and the summary say it anyway.
    if (input.sync !== undefined && input.fetch.length === 0 && !dryRun) {
      context.err.note(`To copy out: ${copyOutText(input)}`);
    }
    for (const offer of made.offers)
      notePrice(offer, { count: input.here?.count, maxPrice }, context);
    const priced = { offers: made.offers, maxPrice, count: input.here?.count ?? 1 };
    await warnBeforeRenting(ends, priced, context);
    return made;
  };
  const { body, offers, from_profile } =
    prompts === undefined || missing.length === 0
      ? await typedRequest()
      : await askJob({ ...input, ends, maxPrice }, given, dryRun, prompts, context);
  const fixed = dryRun ? ends : await onItsDay(ends, retryFor, context);
  return { ends: fixed, maxPrice, request: body, offers, from_profile, retryFor };
}

/**
 * Whether only `reap` can end the instance as wanted. A detached job has no process to terminate it,
 * and `run` itself enforces a deadline, but no idle rule.
 */
export function needsReap({ detach, ends }: Pick<JobPlan, 'detach' | 'ends'>): boolean {
  return detach || ends.ifIdle !== undefined || ends.toRescue !== undefined;
}

/** Throws a usage error that names all missing values. */
function ensureComplete(missing: readonly string[], ends: DeadlineFlags): void {
  const hasDeadline = wantedDeadline(ends) !== undefined;
  if (missing.length > 0) {
    throw missingError([...missing, ...(hasDeadline ? [] : ['--terminate-after'])], 'run');
  }
  if (!hasDeadline) {
    throw usageError(
      '--terminate-after is missing: run terminates the instance after this time, such as 4h',
    );
  }
}

/** Names are unique in an account, and two runs within a minute are common. */
function defaultName({ clock }: Context): string {
  const time = new Date(clock.now()).toISOString();
  const minute = time.replace(/\d+-(\d+)-(\d+)T(\d+):(\d+).*/, '$1$2-$3$4');
  const mark = Math.floor(clock.random() * 36 ** 4)
    .toString(36)
    .padStart(4, '0');
  return `run-${minute}-${mark}`;
}

/** Warns about earlier results in the synced folder: they come back if the command writes none. */
function warnOfOldResults(
  fetch: JobInput['fetch'],
  { entries }: Pick<FileList, 'entries'>,
  { err }: Context,
): void {
  const old = oldResults(fetch, entries);
  if (old.length === 0) return;
  const them = old.length === 1 ? 'it' : 'them';
  const excluded = old.flatMap((remote) => ['--exclude', remote]);
  err.warn(
    'copy',
    `--sync copies ${old.join(' and ')} to the instance, and --fetch copies ${them} back: what an earlier run left there comes back as a result. To leave ${them} out: ${shellLine(excluded)}`,
  );
}

/** Returns the paths of `--fetch` that `--sync` copies to the instance. */
export function oldResults(
  fetch: JobInput['fetch'],
  entries: readonly Pick<Entry, 'path' | 'kind'>[],
): string[] {
  const files = entries.filter(({ kind }) => kind !== 'folder').map(({ path }) => path.split('/'));
  return fetch.flatMap(({ remote }) => {
    const path = posix.normalize(remote).replace(/\/$/, '');
    const parts = path.split('/').map(matcherOf);
    const isOld = (file: readonly string[]) => parts.every((fits, at) => fits(file[at] ?? ''));
    return files.some(isOld) ? [path] : [];
  });
}

function noteFiles(files: FileList, overview: Overview, { err }: Context): void {
  err.note(`To copy: ${filesText(files)} from ${files.folder}`);
  const [largest, leftOut] = [largestText(overview), leftOutText(files, overview)];
  if (largest !== null) err.note(`Largest: ${largest}`);
  if (leftOut !== null) err.note(`Left out: ${leftOut}`);
  const special = { named: files.special.slice(0, NAMED), count: files.special.length };
  if (special.count > 0) {
    err.warn(
      'copy',
      `Not copied (a socket, pipe, device, or a name that is not UTF-8): ${leftText(special)}`,
    );
  }
}
