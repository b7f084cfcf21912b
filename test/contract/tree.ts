import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type AnyCommand, about } from '../../src/command-line/command.ts';
import type { JobRecord } from '../../src/jobs/record/record.ts';
import { buildProgram } from '../../src/program.ts';
import { SOAK } from '../faults/tools.ts';
import { manualClock } from '../support/clock.ts';
import { jobRecord } from '../support/job-record.ts';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import type { Handler } from '../support/service.ts';
import { RECIPES, type Recipe } from './recipes.ts';

const RUNTIME = {
  context: () => {
    throw new Error('no command runs here');
  },
  wholeTree: () => {
    throw new Error('no command runs here');
  },
  rerun: () => Promise.reject(new Error('no command runs here')),
  report: () => '',
};

export const tree = buildProgram({
  runtime: RUNTIME,
  version: '0',
  write: () => undefined,
  isColoured: () => false,
  width: 80,
});

/** Returns every visible command with an action. */
function commandsBelow(command: AnyCommand, words: readonly string[] = []): string[] {
  const shown = command.createHelp().visibleCommands(command);
  return shown.length === 0
    ? [words.join(' ')]
    : shown.flatMap((next) => commandsBelow(next, [...words, next.name()]));
}

export const COMMANDS = commandsBelow(tree).sort();

/** The groups of commands. */
export const GROUPS = tree
  .createHelp()
  .visibleCommands(tree)
  .filter(({ commands }) => commands.length > 0)
  .map((group) => group.name());

export function recipe(command: string): Recipe {
  const found = RECIPES[command];
  if (found === undefined) {
    throw new Error(`test/contract/recipes.ts has no recipe for "${command}"`);
  }
  return found;
}

/** Returns the commands whose recipe matches. Another test reports a missing recipe. */
export function commandsWhose(fits: (recipe: Recipe) => boolean): string[] {
  return COMMANDS.filter((command) => {
    const found = RECIPES[command];
    return found !== undefined && fits(found);
  });
}

/** Returns one in `of` items, chosen by GPUCLOUD_SEED. The soak uses all. */
export function share<T>(items: readonly T[], of: number): readonly T[] {
  return items.filter((_, at) => SOAK || (at + Number(process.env.GPUCLOUD_SEED)) % of === 0);
}

/** Returns the columns in a command's help. */
export function columnsOf(command: string): string[] {
  let at: AnyCommand | undefined = tree;
  for (const word of command.split(' ')) at = at?.commands.find((one) => one.name() === word);
  return (at && about(at).view?.columns.map(({ id }) => id)) ?? [];
}

export interface Prepared {
  readonly kitchen: SandboxWorld;
  readonly argv: readonly string[];
  readonly stdin: string;
  /** Environment variables of the command, besides the sandbox's. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Prepares a command in a fresh sandbox. For the built program the service's clock starts now,
 * since `reap` rejects a clock that differs much.
 */
export async function prepare(
  command: string,
  { change, isBuilt = false }: { change?: (handler: Handler) => Handler; isBuilt?: boolean } = {},
): Promise<Prepared> {
  const start = isBuilt ? new Date().toISOString() : undefined;
  const kitchen = await createSandboxWorld(change, manualClock(start));
  const { before = [], job, argv = [], stdin = '', startsItself } = recipe(command);
  let filling: Readonly<Record<string, string>> = {
    $BASE_URL: kitchen.env.GPUCLOUD_BASE_URL ?? '',
    $API_KEY: kitchen.env.GPUCLOUD_API_KEY ?? '',
  };
  const fill = (text: string) =>
    text.replace(/\$[A-Z_]+/g, (placeholder) => filling[placeholder] ?? placeholder);
  const words = (line: readonly string[]) =>
    line[0] === 'sandbox' && line[1] !== 'tour'
      ? [...line, '--state', kitchen.sandboxFile]
      : [...line];
  for (const line of before) {
    const { code, stderr } = await kitchen.cli(words(line), { stdin: fill(stdin) });
    expect(code, `${line.join(' ')}: ${stderr}`).toBe(0);
  }
  const [instance] = (await kitchen.sandbox.status()).instances;
  filling = { ...filling, $INSTANCE: instance?.id ?? '' };
  if (job === true && instance !== undefined) await putJob(kitchen.env, instance);
  return {
    kitchen,
    argv: words([...command.split(' '), ...argv.map(fill)]),
    stdin: fill(stdin),
    env: {
      ...(command === 'login' && { GPUCLOUD_API_KEY: undefined }),
      ...(startsItself && !isBuilt && { PATH: '/nowhere' }),
    },
  };
}

/** Stores a job, which has ended unless `more` differs. */
export async function putJob(
  { GPUCLOUD_STATE_DIR: state = '', GPUCLOUD_BASE_URL: service = '' }: SandboxWorld['env'],
  { id, name }: { readonly id: string; readonly name: string },
  more: Partial<JobRecord> = {},
): Promise<void> {
  const time = '2026-01-15T12:00:00.000Z';
  const report = {
    command_exit_code: 3,
    stage: 'done' as const,
    instance: { id, name },
    terminated: true,
    fetched: ['/home/somebody/results'],
    seconds: 60,
    cost: null,
    cost_at_most: '89.90',
    phases: null,
    gpu: null,
    exit_code: 3,
    error: null,
  };
  const record = jobRecord(
    { id, name, service },
    { exit_code: 3, ended_at: time, report, ...more },
  );
  await mkdir(join(state, 'jobs'), { recursive: true });
  await writeFile(join(state, 'jobs', `${id}.json`), JSON.stringify(record));
}
