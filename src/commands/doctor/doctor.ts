import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { type Check, Late, type Look, settled } from './check.ts';
import { looksAtComputer } from './computer.ts';
import { looksAtFolders, looksAtKnowledge } from './files.ts';
import { looksAtService } from './service.ts';
import { looksAtSettings } from './settings.ts';
import { checkView, reportView } from './view.ts';

/** As of every call without --timeout. */
const TIMEOUT_MS = 60_000;

/** Timers of Node fire at once beyond this. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Looks at everything, at once where that helps, and prints one report. Whatever is broken is a finding of it.
 * Throws CliError('refused') when a check failed.
 */
export async function doctor(context: Context): Promise<void> {
  // A slip in --query is no finding of the computer.
  await context.out.prepare();
  const progress = context.err.progress('Looking at the computer, the settings and the service');
  const { deadline, clear } = deadlineIn(context.flags.timeout ?? TIMEOUT_MS);
  const make = async (looks: readonly Look[]) =>
    (await Promise.all(looks.map((look) => settled(look, deadline)))).flat();
  const checks: Check[] = [];
  try {
    checks.push(
      ...(await make([
        ...looksAtComputer(context),
        ...looksAtSettings(context),
        ...looksAtFolders(context),
      ])),
    );
    // Only now: the sandbox makes its folder where there is none.
    checks.push(...(await make([...looksAtKnowledge(context), ...looksAtService(context)])));
  } finally {
    clear();
    progress.done();
  }
  // A program that the interrupt ended is no finding.
  context.signal.throwIfAborted();
  await show(checks, context);
  const failed = checks.filter(({ status }) => status === 'fail');
  if (failed.length > 0) {
    const ids = failed.map(({ id }) => id).join(', ');
    throw new CliError('refused', `${failed.length} of ${checks.length} checks failed: ${ids}.`);
  }
}

/** A real timer, and no sleep of the clock: it has to end what hangs. */
function deadlineIn(milliseconds: number): { deadline: Promise<never>; clear: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late()), Math.min(milliseconds, LONGEST_TIMER));
  });
  deadline.catch(() => undefined);
  return { deadline, clear: () => clearTimeout(timer) };
}

/** One document where there is structure, rows where a format is rows alone or columns were chosen. */
async function show(checks: readonly Check[], { out, flags }: Context): Promise<void> {
  const chosen = flags.columns !== undefined || flags.sort !== undefined;
  if (chosen || ['jsonl', 'csv', 'tsv', 'id'].includes(out.format)) {
    await out.list(checks, checkView);
  } else {
    const ok = checks.every(({ status }) => status !== 'fail');
    await out.item({ checks, ok }, reportView);
  }
}
