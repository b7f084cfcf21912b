import { resolve } from 'node:path';
import type { CreateInstanceBody, Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { readEnforcement } from '../instances/deadlines/armed.ts';
import {
  checkDeadline,
  type DeadlineFlags,
  deadlineField,
  wantedDeadline,
} from '../instances/deadlines/deadline.ts';
import { rentWithin } from '../instances/max-price.ts';
import { ensureNoPending, ownJournal } from '../instances/pending.ts';
import { nothingCreated, runPreflight } from '../instances/preflight.ts';
import {
  type CreateFlags,
  type MadeRequest,
  makeRequest,
  manifestOf,
  missingError,
  missingFlags,
} from '../instances/request/body.ts';
import { notePrice, warnIfDearer } from '../instances/request/hardware.ts';
import type { HowToReach } from '../reach/reach.ts';
import type { Money } from '../rules/money.ts';
import { positiveDuration } from '../rules/times.ts';
import { isSandbox } from '../watch/ssh-endpoint.ts';
import type { Fetch } from './copy/copy-out.ts';
import { type FileList, listFiles } from './copy/files.ts';
import { filesText, sizeText } from './phases.ts';
import { findPrivateKey } from './private-key.ts';
import type { JobRecord } from './record.ts';

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

/** The plan of a job, before any request that rents. */
export interface JobPlan {
  readonly request: CreateInstanceBody;
  readonly command: readonly string[];
  readonly files: FileList | undefined;
  readonly fetch: readonly Fetch[];
  readonly ends: DeadlineFlags;
  readonly made: MadeRequest;
  /** The private key file that ssh needs to be shown. */
  readonly identity: string | undefined;
}

/** Checks everything possible before anything is rented. Throws CliError. */
export async function planJob(
  input: JobInput,
  { dryRun }: { readonly dryRun: boolean },
  context: Context,
): Promise<JobPlan> {
  const { command, sync, exclude, fetch } = input;
  if (command.length === 0) {
    throw usageError('COMMAND is missing: put it after --, as in -- python train.py');
  }
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
  const made = await makeRequest(flags, manifest, context);
  const identity = dryRun ? undefined : await ensureSignIn(made.body, input, context);
  notePrice(made.offer, context);
  if (files !== undefined) noteFiles(files, context);
  return { request: made.body, command, files, fetch, ends, made, identity };
}

/**
 * Checks what a job needs on this computer, and that ssh can sign in. Returns the private key file to
 * use. Throws a usage error.
 */
async function ensureSignIn(
  { ssh_keys: ids = [] }: CreateInstanceBody,
  { how, fetch }: JobInput,
  context: Context,
): Promise<string | undefined> {
  await ensureProgram('ssh', ['-V'], context);
  if (fetch.length > 0) await ensureProgram('tar', ['--version'], context);
  if (ids.length === 0) throw usageError('--ssh-key is missing: run signs in with it');
  if (how.identity !== undefined) return how.identity;
  const keys = await (await context.api()).sshKeys.list();
  const chosen = keys.filter(({ id }) => ids.includes(id));
  return findPrivateKey(chosen, context);
}

/** Rents the instance of a job, and saves the job before doing anything else with it. */
export async function rentFor(
  { made, ends, files, identity }: JobPlan,
  input: JobInput,
  context: Context,
): Promise<{ record: JobRecord; instance: Instance; deadline: string }> {
  const { body, offer } = made;
  const { deadline } = await runPreflight(context, nothingCreated, async () => {
    if (ends.unenforced !== true) await warnIfUnarmed(body.instance_name, context);
    return deadlineField(ends, context);
  });
  if (deadline === undefined) throw usageError('--terminate-after is missing');
  const { instance_name: name, offer_id } = body;
  const request = { operation: 'create', name, offer_id, body, deadline } as const;
  const started_at = new Date(context.clock.now()).toISOString();
  const instance = await rentWithin(input.maxPrice, request, context, (api, options) =>
    api.instances.create(body, options),
  );
  warnIfDearer(instance, offer, context);
  const record: JobRecord = {
    version: 1,
    id: instance.id,
    name,
    command: input.command,
    sync: files?.folder ?? null,
    exclude: input.exclude,
    fetch: input.fetch.map(({ remote, local }) => ({ remote, local: resolve(local) })),
    keep_on_failure: input.keepOnFailure ?? null,
    identity: identity ?? null,
    user: input.how.user ?? null,
    ssh_options: input.how.options,
    ssh_words: input.how.words,
    started_at,
    printed: { out: 0, err: 0 },
  };
  return { record, instance, deadline };
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
  err.note(`To copy: ${filesText(files)} of ${files.folder}`);
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

/** A run enforces its own deadline while it is alive. */
async function warnIfUnarmed(name: string, context: Context): Promise<void> {
  const journal = await ownJournal(context);
  if ((await readEnforcement(context, await journal.account())).isArmed) return;
  context.err.warn(
    'deadline_unenforced',
    `If this run is killed, nothing terminates ${name} at its deadline. Arm it: gpucloud instances reap --install`,
  );
}
