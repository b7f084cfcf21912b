import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { readText } from '../command-line/input.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { environmentOf } from '../instances/rent/environment.ts';
import type { Given } from '../instances/rent/given.ts';
import { gpucloud, shellLine } from '../output/shell-line.ts';
import { clamp } from '../output/width.ts';
import { type EnvironmentVariable, variableName } from '../rules/container.ts';
import { hider, SHORTEST_SECRET } from '../rules/secrets.ts';
import type { JobRecord, Setup } from './record/record.ts';

/**
 * Describes a command to run on an instance. Variable values may be secrets, so gpucloud never stores or
 * shows them.
 */
export interface Command {
  readonly words: readonly string[];
  readonly variables: readonly EnvironmentVariable[];
  /** Runs first; undefined without one. */
  readonly setup?: Setup | undefined;
}

/** Variables that ssh, rsync and their child processes need. */
const OF_PROGRAMS =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_.*|TMPDIR|SSH_AUTH_SOCK|SYSTEMROOT|USERPROFILE)$/i;

/**
 * Returns the command with the variables of `--pass-env`, and of `--env` and `--env-file` if no
 * container has them. Other programs that `run` starts don't get these variables. Throws a usage error.
 */
export async function commandOf(
  words: readonly string[],
  passEnv: readonly string[],
  { flags, from }: Pick<Given, 'flags' | 'from'>,
  context: Context,
): Promise<Command> {
  ensureProgram(words);
  ensureFlagsFirst(words);
  const inherited = new Map<string, string>();
  const missing: string[] = [];
  for (const name of passEnv) {
    const value = context.env[name];
    if (value === undefined) missing.push(name);
    else inherited.set(name, value);
  }
  if (missing.length > 0) {
    throw usageError(`${from('passEnv')} ${missing.join(', ')}: not set in the environment`);
  }
  const { env, envFile, dockerImage } = flags;
  const own = dockerImage === undefined ? { env, envFile } : {};
  const variables = await environmentOf({ flags: own, from }, { rule: variableName }, context);
  for (const { key, value } of variables) {
    if (value.includes('\0')) throw usageError(`the variable "${key}" has a NUL byte`);
  }
  const given = variables.map(({ key, value }) => [key, value] as const);
  const passed = new Map([...given, ...inherited]);
  context.withhold([...passed.keys()].filter((name) => !OF_PROGRAMS.test(name)));
  const setup = await setupOf({ flags, from }, context);
  return { words, variables: [...passed].map(([key, value]) => ({ key, value })), setup };
}

/** Refuses `-- --json COMMAND`: no program's name begins with a dash. */
function ensureProgram([word = '']: readonly string[]): void {
  if (!word.startsWith('-')) return;
  throw usageError(
    `COMMAND "${word}" is a flag: everything after -- belongs to COMMAND`,
    'write the flags of gpucloud before --',
  );
}

/** Flags that hardly any command but `run` has. */
const OWN_FLAGS = /^--(?:offer|image|terminate-(?:after|at)|sync|fetch)(?:=|$)/;

/**
 * Refuses `--offer RTX 4090 --image … -- COMMAND`, which would run a program named `4090`, and
 * `run NAME --offer … -- COMMAND`, which would run a program named NAME.
 */
function ensureFlagsFirst([word = '', ...more]: readonly string[]): void {
  const flags = more.slice(0, Math.max(0, more.indexOf('--')));
  const isValue = /^\d+(GB)?$/i.test(word) && more.includes('--');
  if (!isValue && !flags.some((flag) => OWN_FLAGS.test(flag))) return;
  throw usageError(
    `COMMAND "${word}": the flags after it are not read`,
    isValue
      ? "a value with a space needs quotes: --offer 'RTX 4090'"
      : `to name the instance: ${gpucloud('run', '--name', word)}, then the flags, -- and the command`,
  );
}

/**
 * Refuses a command line in one word: the instance would look for a program of that name. Throws a
 * usage error.
 */
export function ensureWords(command: Command, folder: string): void {
  const [word = '', ...more] = command.words;
  if (more.length > 0 || !/\s/.test(word) || existsSync(resolve(folder, word))) return;
  const [shown = ''] = shownWords(command);
  throw usageError(
    `COMMAND "${clamp(shown, 60)}" is a single word, and no file has this name`,
    `run it in a shell: -- ${shellLine(['sh', '-c', shown], 'linux')}`,
  );
}

function isHere(word: string): boolean {
  return !isAbsolute(word) && statSync(word, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * Notes a file of the command, or of its `sh -c`, that is only on this computer. Skips results, which
 * the command writes.
 */
export function noteUncopied(
  words: readonly string[],
  isResult: (path: string) => boolean,
  { err }: Context,
): void {
  const all = [...words, ...words.flatMap((word) => word.split(/\s+/))];
  const file = all.find((word) => isHere(word) && !isResult(word));
  if (file === undefined) return;
  err.note(`${file} is on this computer, but not copied to the instance: --sync . copies it`);
}

/** Masks the variables' values in the words, except short values, since those occur by chance. */
export function shownWords({ words, variables }: Pick<Command, 'words' | 'variables'>): string[] {
  return words.map(hiderOf(variables));
}

function hiderOf(variables: readonly EnvironmentVariable[]): (text: string) => string {
  const values = variables.map(({ value }) => value);
  return hider(values.filter(({ length }) => length >= SHORTEST_SECRET));
}

/** Masks the variables' values in the setup. */
export function shownSetup({ setup, variables }: Command): Setup | undefined {
  return setup && { ...setup, text: hiderOf(variables)(setup.text) };
}

/**
 * Returns the setup with a mark of its text and its files. Throws a usage error for a file that can't
 * be read.
 */
export async function setupOf(
  { flags: { setup: text, setupFile = [], setupAgain }, from }: Pick<Given, 'flags' | 'from'>,
  context: Context,
): Promise<Setup | undefined> {
  if (text === undefined) {
    const part = setupFile.length > 0 ? from('setupFile') : setupAgain && '--setup-again';
    if (part) throw usageError(`${part} needs --setup`);
    return undefined;
  }
  const hash = createHash('sha256').update(JSON.stringify(text));
  for (const [at, path] of setupFile.entries()) {
    hash.update(JSON.stringify(await readText(from('setupFile', at), path, context)));
  }
  return { text, mark: hash.digest('hex'), again: setupAgain === true };
}

/**
 * Returns the recorded command, for a process other than its `run`. Throws CliError('runFailed') if the
 * command needs variables, since their values are not stored.
 */
export function recordedCommand({ command: words, variables, setup }: JobRecord): Command {
  if (variables.length === 0) return { words, variables: [], setup: setup ?? undefined };
  throw new CliError(
    'runFailed',
    `The command was never started, and the values of ${variables.join(', ')} are not stored.`,
    { hint: 'run the job again' },
  );
}
