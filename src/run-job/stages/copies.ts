import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { type Copying, copyIn } from '../copy/copy-in.ts';
import { copyOut } from '../copy/copy-out.ts';
import { listFiles } from '../copy/files.ts';
import type { Job } from '../job.ts';
import { filesText } from '../phases.ts';
import type { Connected } from './connect.ts';
import { repeated } from './repeated.ts';

/** Copies the folder of `--sync` to the instance. */
export async function copyFiles(job: Job, there: Connected, context: Context): Promise<void> {
  const { sync, exclude } = job.record;
  if (sync === null) return;
  // The start of an instance takes minutes, in which files come and go.
  const files = await listFiles(sync, exclude);
  job.phases.begin('copying', filesText(files));
  const copying = copyingOf(job, there, job.stops.any, context);
  await repeated(() => copyIn(files, copying), copying.signal, context.clock);
}

/** Copies all results it can, then throws the first failure. */
export async function fetchAll(job: Job, there: Connected, context: Context): Promise<void> {
  const { record, stops } = job;
  const { first } = context.interrupts;
  const explain = () => {
    if (stops.last.aborted) return;
    context.err.note(`Still fetching. Ctrl-C again terminates ${record.name} without the rest.`);
  };
  first.addEventListener('abort', explain);
  try {
    await fetchEach(job, copyingOf(job, there, stops.last, context), context);
  } finally {
    first.removeEventListener('abort', explain);
  }
}

async function fetchEach(
  { record, phases, fetched }: Job,
  copying: Copying,
  context: Context,
): Promise<void> {
  let failure: CliError | undefined;
  for (const one of record.fetch) {
    phases.begin('fetching', one.remote);
    try {
      await repeated(() => copyOut(one, copying), copying.signal, context.clock);
      fetched.push(one.local);
    } catch (error) {
      // An interrupted copy fails with a reason of its own.
      copying.signal.throwIfAborted();
      if (!(error instanceof CliError)) throw error;
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
