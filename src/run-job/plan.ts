import { resolve } from 'node:path';
import type { CreateInstanceBody } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import {
  checkDeadline,
  type DeadlineFlags,
  wantedDeadline,
} from '../instances/deadlines/deadline.ts';
import { ensureNoPending } from '../instances/pending.ts';
import {
  type CreateFlags,
  makeRequest,
  manifestOf,
  missingError,
  missingFlags,
} from '../instances/request/body.ts';
import { type Chosen, notePrice } from '../instances/request/hardware.ts';
import type { HowToReach } from '../reach/reach.ts';
import type { Money } from '../rules/money.ts';
import { positiveDuration } from '../rules/times.ts';
import { isSandbox } from '../watch/ssh-endpoint.ts';
import type { Fetch } from './copy/copy-out.ts';
import { type FileList, listFiles } from './copy/files.ts';
import { filesText, sizeText } from './phases.ts';
import { findPrivateKey } from './private-key.ts';
import { ensureTargets } from './targets.ts';

/** Bytes: larger files are listed before the copy. */
const LARGE = 100_000_000;
const NAMED = 5;

/** A job as given on the command line. */
export interface JobInput {
  readonly flags: CreateFlags;
  readonly ends: DeadlineFlags;
  readonly maxPrice: Money | undefined;
  readonly command: readonly string[];
  readonly sync: string | undefined;
  readonly exclude: readonly string[];
  readonly fetch: readonly Fetch[];
  /** Milliseconds. */
  readonly keepOnFailure: number | undefined;
  readonly how: HowToReach;
  readonly detach: boolean;
}

/** A job with everything that it needs, before any request that rents. */
export interface JobPlan extends JobInput {
  readonly request: CreateInstanceBody;
  readonly offer: Chosen;
  readonly files: FileList | undefined;
}

/** Checks everything possible before anything is rented. Throws CliError. */
export async function planJob(
  input: JobInput,
  { dryRun }: { readonly dryRun: boolean },
  context: Context,
): Promise<JobPlan> {
  const { command, sync, exclude } = input;
  if (command.length === 0) {
    throw usageError('COMMAND is missing: put it after --, as in -- python train.py');
  }
  await ensureTargets(input.fetch);
  const files = sync === undefined ? undefined : await listFiles(resolve(sync), exclude);
  if (!dryRun && (await isSandbox(context))) {
    throw new CliError('wrongState', 'Sandbox instances have no SSH. Nothing was rented.', {
      hint: 'print the plan with --dry-run, or use a profile with a real account',
    });
  }
  const ends = await endsOf(input.ends, context);
  // No process is left to terminate the instance.
  if (!dryRun && input.detach) await checkDeadline(ends, context);
  const flags = { ...input.flags, name: input.flags.name ?? defaultName(context) };
  const manifest = await manifestOf(flags, context);
  const missing = missingFlags(flags, manifest);
  if (missing.length > 0) throw missingError(missing, 'run');
  if (!dryRun) await ensureNoPending(flags.name, context);
  const { body: request, offer } = await makeRequest(flags, manifest, context);
  const how = dryRun ? input.how : await ensureSignIn(request, input, context);
  notePrice(offer, context);
  if (files !== undefined) noteFiles(files, context);
  return { ...input, ends, how, request, offer, files };
}

/**
 * Checks what a job needs on this computer, and that ssh can sign in. Adds the private key file to
 * use. Throws a usage error.
 */
async function ensureSignIn(
  { ssh_keys: ids = [] }: CreateInstanceBody,
  { how, fetch }: JobInput,
  context: Context,
): Promise<HowToReach> {
  await ensureProgram('ssh', ['-V'], context);
  if (fetch.length > 0) await ensureProgram('tar', ['--version'], context);
  if (ids.length === 0) throw usageError('--ssh-key is missing: run signs in with it');
  if (how.identity !== undefined) return how;
  const keys = await (await context.api()).sshKeys.list();
  const chosen = keys.filter(({ id }) => ids.includes(id));
  return { ...how, identity: await findPrivateKey(chosen, context) };
}

/** Every job has a deadline. Asks for it in a terminal. */
async function endsOf(ends: DeadlineFlags, context: Context): Promise<DeadlineFlags> {
  if (wantedDeadline(ends) !== undefined) return ends;
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(
      '--terminate-after is missing: a run needs a time after which its instance is terminated, such as 4h',
    );
  }
  const text = await prompts.text('Terminate the instance after', {
    initial: '4h',
    check: (typed) => {
      const verdict = positiveDuration(typed.trim());
      return verdict.ok ? undefined : verdict.rule;
    },
  });
  const verdict = positiveDuration(text.trim());
  return verdict.ok ? { ...ends, terminateAfter: verdict.value } : ends;
}

/** Names are unique in an account, and two runs within a minute are common. */
function defaultName({ clock }: Context): string {
  const time = new Date(clock.now()).toISOString();
  const [, month, day, hour, minute] = /^\d+-(\d+)-(\d+)T(\d+):(\d+)/.exec(time) ?? [];
  const mark = Math.floor(clock.random() * 36 ** 4)
    .toString(36)
    .padStart(4, '0');
  return `run-${month}${day}-${hour}${minute}-${mark}`;
}

async function ensureProgram(file: string, args: string[], { start }: Context): Promise<void> {
  const hear = () => undefined;
  const running = await start({ file, args, hear, timeout: 10_000 });
  const code = await running.ended.catch(() => undefined);
  if (code !== 0) throw usageError(`gpucloud run needs ${file}, which could not be started`);
}

function noteFiles(files: FileList, { err }: Context): void {
  err.note(`To copy: ${filesText(files)} from ${files.folder}`);
  const large = files.entries.filter(({ size }) => size > LARGE);
  for (const { path, size } of large.slice(0, NAMED)) {
    err.note(`Large file: ${path} (${sizeText(size)})`);
  }
  if (large.length > NAMED) err.note(`And ${large.length - NAMED} more large files.`);
  if (files.special.length > 0) {
    err.warn(
      'copy',
      `Not copied (a socket, pipe, device, or a name that is not UTF-8): ${files.special.slice(0, NAMED).join(', ')}${files.special.length > NAMED ? ` and ${files.special.length - NAMED} more` : ''}`,
    );
  }
}
