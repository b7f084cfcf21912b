import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { type Copying, copyIn } from '../copy/copy-in.ts';
import { copyOut } from '../copy/copy-out.ts';
import { listFiles } from '../copy/files.ts';
import type { Job } from '../job.ts';
import type { Connected } from './connect.ts';

/** Copies the folder of `--sync` to the instance. */
export async function copyFiles(job: Job, there: Connected, context: Context): Promise<void> {
  const { sync, exclude } = job.record;
  if (sync === null) return;
  // The start of an instance takes minutes, in which files come and go.
  const files = await listFiles(sync, exclude);
  job.phases.begin('copying', files);
  const copying = copyingOf(job, there, job.stops.any, context);
  await repeated(() => copyIn(files, copying), copying.signal, context);
}

/** Copies all results it can, then throws the first failure. */
export async function fetchAll(job: Job, there: Connected, context: Context): Promise<void> {
  const copying = copyingOf(job, there, job.stops.last, context);
  let failure: CliError | undefined;
  for (const one of job.record.fetch) {
    job.phases.begin('fetching', one.remote);
    try {
      await repeated(() => copyOut(one, copying), copying.signal, context);
      job.fetched.push(one.local);
    } catch (error) {
      if (!(error instanceof CliError) || copying.signal.aborted) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}

function copyingOf(
  { phases }: Job,
  { shell, hasRsync }: Connected,
  signal: AbortSignal,
  { startPiped, err }: Context,
): Copying {
  return {
    shell,
    hasRsync,
    signal,
    startPiped,
    onChanged: (what) => err.warn('copy', `Changed while it was copied: ${what}`),
    onProgress: phases.bytes,
  };
}

const ATTEMPTS = 3;
/** Milliseconds between two attempts. */
const PAUSE = 3_000;

/** A copy may be repeated as a whole. */
async function repeated(
  copy: () => Promise<void>,
  signal: AbortSignal,
  { clock }: Context,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await copy();
    } catch (error) {
      const again = error instanceof CliError && error.retryable && attempt < ATTEMPTS;
      if (!again || signal.aborted) throw error;
      await clock.sleep(PAUSE, signal);
    }
  }
}
