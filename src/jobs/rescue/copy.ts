import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { asCliError, CliError } from '../../errors.ts';
import type { Target } from '../../instances/resolve.ts';
import type { RescueRecord } from '../../journal/index.ts';
import type { FindSignIn } from '../../ssh/sign-in.ts';
import type { CopyingOut, Unplaced } from '../files/copy-out.ts';
import { copyOrPlace } from '../files/copy-out-each.ts';
import type { JobRecord } from '../record/record.ts';
import type { SignedIn } from '../remote/probe.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { WORK } from '../remote/supervisor.ts';
import { copyingFrom } from '../stages/copies.ts';
import { repeated } from '../stages/repeated.ts';
import { look } from '../verbs/look.ts';
import { type Compared, compare, type Same } from './compare.ts';

export type RescuedPath = RescueRecord['paths'][number];

/** How many more copies to make of a path that changes while it is copied. */
const AGAIN = 2;

/** Returns the paths with the new progress of one. */
export function replaced(paths: readonly RescuedPath[], path: RescuedPath): RescuedPath[] {
  const isIt = ({ remote, local }: RescuedPath) => remote === path.remote && local === path.local;
  return paths.map((one) => (isIt(one) ? path : one));
}

export interface Copying {
  readonly find: FindSignIn;
  readonly jobs: () => Promise<readonly JobRecord[]>;
  readonly signal: AbortSignal;
  /** Whether the instance ends after this copy, so that changes must be copied too. */
  readonly isLast: boolean;
  /** The time by the service's clock (ISO 8601). */
  now(): string;
  /** Stores the progress of a path. */
  onCopied(path: RescuedPath): Promise<void>;
  onBegin?(remote: string): void;
  onProgress?(bytes: number, size: number | undefined): void;
}

export interface Result {
  readonly paths: readonly RescuedPath[];
  readonly same: readonly Same[];
  /** The first failure of a path. Another path may have been copied. */
  readonly error: CliError | undefined;
}

/**
 * Copies paths of an instance to this computer, and compares both sides. Copies a path again that
 * differs afterwards, at most twice. Throws CliError if it can't sign in.
 */
export async function copyPaths(
  { id, name }: Target,
  paths: readonly RescuedPath[],
  copying: Copying,
  context: Context,
): Promise<Result> {
  const { isLast } = copying;
  const job = (await copying.jobs()).find((one) => one.id === id);
  const { shell, home } = await signedIn({ id, name }, job, copying, context);
  // A relative path of a job's instance counts from the job's folder, as for --fetch.
  const from = join(home, job === undefined || job.on ? '' : WORK);
  const done: RescuedPath[] = [];
  const same: Same[] = [];
  let error: CliError | undefined;
  for (const path of paths) {
    const remote = path.remote.startsWith('/') ? path.remote : `${from}/${path.remote}`;
    copying.onBegin?.(path.remote);
    const one = await copyPath({ ...path, remote }, shell, copying, context);
    // Names the path as it was given.
    const asGiven = (text: string) =>
      text.replace('Could not copy files out: ', '').replaceAll(`${from}/`, '');
    const failure = one.path.failure && asGiven(one.path.failure);
    const copied = { ...one.path, remote: path.remote, failure };
    done.push(copied);
    same.push(...one.same);
    if (isLast && one.gap !== undefined) {
      context.err.warn('copy', `Could not compare all of ${path.remote} of ${name}: ${one.gap}`);
    }
    if (isLast && one.isGone === true) {
      context.err.warn(
        'copy',
        `${path.remote} no longer exists on ${name}. Its earlier copy is kept in ${path.local}.`,
      );
    }
    error = worse(error, one.error?.with(asGiven(one.error.message)));
    await copying.onCopied(copied);
  }
  return { paths: done, same, error };
}

/** A failure of this computer comes first, since the user can fix it before the instance ends. */
function worse(one: CliError | undefined, other: CliError | undefined): CliError | undefined {
  if (one === undefined || (other?.failure === 'storage' && one.failure !== 'storage')) {
    return other ?? one;
  }
  return one;
}

async function signedIn(
  target: Target,
  job: JobRecord | undefined,
  { find, signal }: Copying,
  context: Context,
): Promise<SignedIn> {
  const { name } = target;
  const place = { ...target, home: job?.home };
  const seen = await context.shielded((own) => look(place, find, own), signal);
  if (seen.isOver) throw new CliError('wrongState', `${name} is ${seen.instance.status}.`);
  if (!seen.hasTar) throw new CliError('refused', `${name} has no tar, which copying requires.`);
  return seen;
}

interface One {
  readonly path: RescuedPath;
  readonly same: readonly Same[];
  /** Why not every file was compared. */
  readonly gap?: string | undefined;
  /** Whether only an earlier copy exists, since the path was removed from the instance. */
  readonly isGone?: boolean;
  readonly error: CliError | undefined;
}

async function copyPath(
  before: RescuedPath,
  shell: RemoteShell,
  copying: Copying,
  context: Context,
): Promise<One> {
  const { signal, isLast } = copying;
  const hasCopy = before.copied_at !== null;
  const progress = { path: { ...before, failure: null } as RescuedPath };
  const most = isLast ? AGAIN + (hasCopy ? 0 : 1) : 1;
  const lookAgain = () => compareAgain(before, shell, copying, context);
  /** Sends all at first. After a cut connection or an earlier copy, only what has not arrived. */
  async function sendMissing(seen: Compared | undefined): Promise<void> {
    let known = seen;
    let hasPart = before.failure !== null;
    let isPart = false;
    const missingNames = async () => {
      const list = known ?? (hasPart ? await lookAgain() : undefined);
      [known, hasPart] = [undefined, true];
      const names = list?.gap === undefined ? list?.different : undefined;
      isPart = names !== undefined;
      return names;
    };
    try {
      await copyOnce(progress, shell, { ...copying, missingNames }, context);
    } catch (error) {
      // A listed file was removed before tar read it.
      if (!isPart || asCliError(error).retryable) throw error;
      await copyOnce(progress, shell, copying, context);
    }
  }
  try {
    const earlier = hasCopy ? await lookAgain() : undefined;
    if (earlier?.isGone === true) {
      return { path: progress.path, same: [], isGone: true, error: undefined };
    }
    const copied = async (seen: Compared | undefined, left: number): Promise<Compared> => {
      await sendMissing(seen);
      const now = await lookAgain();
      return left === 1 || now.different.length === 0 ? now : copied(now, left - 1);
    };
    // Of a file that can't be compared, the copy of an earlier pass may be old.
    const isSame = earlier?.different.length === 0 && earlier.gap === undefined;
    const found = isSame ? earlier : await copied(earlier, most);
    const { same, gap } = found;
    return { path: withCompared(progress.path, found), same, gap, error: undefined };
  } catch (error) {
    if (!(error instanceof CliError) || signal.aborted) throw error;
    return { path: { ...progress.path, failure: error.message }, same: [], error };
  }
}

/** Compares both sides, also after a cut connection. */
async function compareAgain(
  path: RescuedPath,
  shell: RemoteShell,
  { signal }: Copying,
  { clock }: Context,
): Promise<Compared> {
  return repeated(() => compare(path, { shell, signal }), signal, clock);
}

/** Maximum number of changing files to name. */
const NAMED = 20;

function withCompared(path: RescuedPath, { same, different }: Compared): RescuedPath {
  const bytes = same.reduce((sum, { size }) => sum + size, 0);
  return { ...path, files: same.length, bytes, changing: different.slice(0, NAMED) };
}

async function copyOnce(
  progress: { path: RescuedPath },
  shell: RemoteShell,
  { signal, now, onProgress, missingNames }: Copying & Pick<CopyingOut, 'missingNames'>,
  context: Context,
): Promise<void> {
  const begun = now();
  const each = {
    ...copyingFrom(shell, signal, context),
    // The comparison finds changes.
    onChanged: () => undefined,
    onProgress: onProgress ?? (() => undefined),
    ...(missingNames && { missingNames }),
    async onUnplaced(_one: object, unplaced: Unplaced) {
      progress.path = { ...progress.path, unplaced };
    },
  };
  await repeated(() => copyOrPlace(progress.path, each), signal, context.clock);
  progress.path = { ...progress.path, copied_at: begun, unplaced: null };
}
