import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Rerun } from '../../command-line/verb.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, FAILURES, INTERRUPTS } from '../../errors.ts';
import type { ToldStep } from '../../json-results/local.ts';
import { Kept } from '../../output/kept.ts';
import { field, type View } from '../../output/output.ts';
import { shellLine } from '../../output/shell-line.ts';
import { printedBy } from '../../ssh-keys/private-half.ts';
import { inTemporaryFolder } from '../../system/temporary-folder.ts';
import { FOLDER, INPUT, JOB, KEY, stepsWith, type TourStep } from './tour-steps.ts';

const tourView: View<ToldStep> = {
  columns: [field('title', 'STEP'), field('command', 'COMMAND')],
  id: () => null,
  empty: 'The tour has no steps.',
};

/** Walks through a whole rental. Shows each command before running it. */
export const tour = verb({
  summary: 'Take a two-minute tour of a complete rental',
  notes:
    'Runs real commands in a temporary sandbox. Does not change your instances, profiles or ' +
    'sandbox. In a terminal, asks before each step, unless --yes ' +
    'is given.',
  examples: ['gpucloud sandbox tour', 'gpucloud sandbox tour --yes'],
  view: tourView,
  takes: (command) => command,
  run: (context, _flags, { runtime }) => walk(context, runtime.rerun),
});

async function walk(context: Context, rerun: Rerun): Promise<void> {
  await inTemporaryFolder('gpucloud-tour', async (folder) => {
    const env = {
      ...context.env,
      GPUCLOUD_PROFILE: 'sandbox',
      GPUCLOUD_CONFIG_DIR: folder,
      GPUCLOUD_STATE_DIR: folder,
      GPUCLOUD_API_KEY: undefined,
      GPUCLOUD_BASE_URL: undefined,
      GPUCLOUD_OUTPUT: undefined,
    };
    if (context.out.format === 'table') {
      const steps = await stepsIn(folder, context);
      await guide(steps, context, (argv) => rerun(argv, { env }));
    } else {
      await context.out.list(results(env, rerun), tourView);
    }
  });
}

/** Returns the steps possible on this computer, and creates the files that they need. */
async function stepsIn(folder: string, context: Context): Promise<TourStep[]> {
  const own = (word: string) => word.replaceAll(FOLDER, folder);
  await mkdir(own(JOB));
  await writeFile(join(own(JOB), INPUT), 'hello\n');
  const key = ['-q', '-t', 'ed25519', '-N', '', '-C', 'tour', '-f', own(KEY)];
  const { code } = await printedBy('ssh-keygen', key, context);
  const hasSsh = code === 0 && context.host.platform !== 'win32';
  return stepsWith(hasSsh).map((step) => ({
    ...step,
    argv: step.argv.map(own),
  }));
}

async function guide(
  steps: readonly TourStep[],
  context: Context,
  show: (argv: readonly string[]) => Promise<number>,
): Promise<void> {
  const { err } = context;
  const prompts = context.flags.yes === true ? undefined : await context.prompts();
  err.note('A complete rental in a temporary sandbox, free and offline.');
  for (const [at, step] of steps.entries()) {
    err.note('');
    err.note(`${at + 1} of ${steps.length}: ${step.title}`);
    for (const line of step.words) err.note(line);
    err.note('');
    err.note(`$ ${lineOf(step)}`);
    if (prompts !== undefined && !(await prompts.confirm('Run it?', true))) {
      err.note('The tour ends here. Its sandbox is deleted.');
      return;
    }
    done(step, await show([...colourOf(context), ...step.argv]));
  }
  for (const line of FAREWELL) err.note(line);
}

const FAREWELL = [
  '',
  'The tour is complete. Its sandbox is deleted.',
  'Use your own sandbox: export GPUCLOUD_PROFILE=sandbox',
  'Use the real service: gpucloud login',
  'See all commands: gpucloud --help',
];

async function* results(
  env: Readonly<Record<string, string | undefined>>,
  rerun: Rerun,
): AsyncGenerator<ToldStep> {
  for (const step of stepsWith(false)) {
    const stdout = new Kept();
    // Keeps the step's errors, so that stderr gets only the tour's own error, as one JSON object.
    const stderr = new Kept();
    const code = await rerun([...step.argv, '--json'], { env, stdout, stderr });
    done(step, code, reasonOf(stderr.text));
    yield { title: step.title, command: lineOf(step), result: JSON.parse(stdout.text) };
  }
}

/** Returns the message from a command's JSON error. */
function reasonOf(report: string): string | undefined {
  try {
    return JSON.parse(report).error.message;
  } catch {
    return undefined;
  }
}

/**
 * Fails the tour if a step fails, since later steps need it. An interrupted step interrupts the
 * tour.
 */
function done(step: TourStep, code: number, reason?: string): void {
  if (code === 0) return;
  const ended = INTERRUPTS.find((name) => FAILURES[name].exit === code);
  const why = reason === undefined ? '.' : `: ${reason}`;
  throw new CliError(ended ?? 'refused', `The tour stopped at "${lineOf(step)}"${why}`);
}

function lineOf({ argv }: TourStep): string {
  return shellLine(['gpucloud', ...argv]);
}

/** Passes the tour's colour setting to its steps. */
function colourOf({ flags: { color } }: Context): readonly string[] {
  if (color === undefined) return [];
  return [`--color=${color === false ? 'never' : color}`];
}
