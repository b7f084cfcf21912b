import type { Context } from '../../context.ts';
import { asCliError, CliError, usageError } from '../../errors.ts';
import type { ToRescue } from '../../instances/deadlines/deadline.ts';
import { notCopied, progressOf, shownPaths } from '../../instances/deadlines/rescued.ts';
import { ownJournal } from '../../instances/recover/pending.ts';
import type { Target } from '../../instances/resolve.ts';
import type { RescuedPath } from '../../json-results/instances.ts';
import { withStop } from '../../output/messages.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import type { HowToReach } from '../../ssh/sign-in.ts';
import { createPhases } from '../phases.ts';
import { type RescuedPath as Copied, copyPaths, replaced } from './copy.ts';
import { saveHashes } from './hashes.ts';
import { rescueTools } from './pass.ts';
import { failed, warnOfChanging } from './words.ts';

interface Wish {
  /** Other paths than those that are set. */
  readonly given: ToRescue | undefined;
  readonly how?: HowToReach | undefined;
}

/** What was copied by hand. `error`: not everything was. */
interface CopiedNow {
  readonly paths: readonly RescuedPath[];
  readonly error: CliError | undefined;
}

/**
 * Copies the `--rescue` paths of an instance, or other paths, without terminating it. Throws a usage
 * error if none are set.
 */
export async function copyNow(
  target: Target,
  { given, how }: Wish,
  context: Context,
): Promise<CopiedNow> {
  const { id, name } = target;
  if (given !== undefined) {
    return copy(target, given.pathsFor(name).map(notCopied), how, context, async () => undefined);
  }
  const journal = await ownJournal(context);
  const { rescue } = await journal.ends(id);
  if (rescue === undefined) {
    const typed = typedName(name, id);
    throw usageError(
      `${name} has no --rescue paths`,
      `name them: ${gpucloud('instances', 'rescue', typed, 'REMOTE')}; or set them: ${gpucloud('instances', 'expire', typed, '--rescue', 'REMOTE')}`,
    );
  }
  const copied = await journal.withRescue(id, rescue, async ({ found, write }) => {
    let progress = progressOf(rescue, found);
    const now = await copy(target, progress.paths, how, context, async (path) => {
      progress = { ...progress, paths: replaced(progress.paths, path) };
      await write(progress);
    });
    if (now.error === undefined && progress.failing !== null)
      await write({ ...progress, failing: null });
    return now;
  });
  if (copied !== undefined) return copied;
  throw new CliError('wrongState', `Another gpucloud process is copying from ${name}.`, {
    resource: id,
    retryable: true,
    hint: 'try again when it has finished',
  });
}

async function copy(
  { id, name }: Target,
  paths: readonly Copied[],
  how: HowToReach | undefined,
  context: Context,
  onCopied: (path: Copied) => Promise<void>,
): Promise<CopiedNow> {
  const phases = createPhases(name, context);
  const { signal } = context;
  const copying = {
    ...rescueTools(context, how),
    signal,
    isLast: true,
    now: () => new Date(context.serviceClock.now()).toISOString(),
    onCopied,
    onBegin: (remote: string) => phases.begin('fetching', remote),
    onProgress: phases.bytes,
  };
  try {
    const result = await copyPaths({ id, name }, paths, copying, context);
    await saveHashes(id, result.same, context);
    warnOfChanging(name, result.paths, context);
    const error =
      result.error &&
      failed(
        result.error,
        `Could not copy everything from ${name}: ${withStop(result.error.message)}`,
        {
          resource: id,
        },
      );
    return { paths: shownPaths(result.paths), error };
  } catch (error) {
    signal.throwIfAborted();
    const fault = asCliError(error);
    const message = `Could not copy anything from ${name}: ${withStop(fault.message)}`;
    throw failed(fault, message, { resource: id });
  } finally {
    phases.clear();
  }
}
