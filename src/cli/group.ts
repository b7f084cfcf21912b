import type { Context, Host } from '../context.ts';
import { usageError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { type AnyCommand, about } from './command.ts';

/** The framework's functions for every command. */
export interface Runtime {
  /** Reads a command's global flags. Called once per run. */
  context(command: AnyCommand): Context;
  /** Builds a second tree with the verbs of every group. Its help has the same output. */
  wholeTree(): Promise<AnyCommand>;
  readonly rerun: Rerun;
}

/**
 * Runs another command line as if typed and returns its exit code. Uses the same host except for
 * `changes`. For commands that demonstrate other commands, such as the tour.
 */
export type Rerun = (
  argv: readonly string[],
  changes: Partial<Pick<Host, 'env' | 'stdout' | 'stderr'>>,
) => Promise<number>;

/** Adds a command's arguments, flags and action. */
export type Register = (command: AnyCommand, runtime: Runtime) => void;

/** A command as its group lists it. Its code loads when the command is chosen. */
export interface Listed {
  /** The verb: `list`, `stop`. */
  readonly name: string;
  /** Other names: `ls`, `rm`. */
  readonly aliases?: readonly string[];
  /** One line without a full stop. */
  readonly summary: string;
  /** The heading above the command in the help: `Connect:`. */
  readonly heading?: string;
  /** Only programs call this command, so no help, reference or completion lists it. */
  readonly isHidden?: boolean;
}

export interface Verb extends Listed {
  /** Arguments in the group's help: `<instance> [ports]`. */
  readonly usage?: string;
  load(): Promise<Register>;
}

export interface Group extends Refused {
  /** Verbs in the order of the help. */
  readonly verbs: readonly Verb[];
  /** Complete example commands. */
  readonly examples: readonly string[];
}

/** Finds a command by name or alias. */
export function namedBy<T extends Listed>(all: readonly T[], word: string): T | undefined {
  return all.find(({ name, aliases }) => name === word || aliases?.includes(word) === true);
}

export function addListed(
  parent: AnyCommand,
  { name, aliases = [], summary, heading = 'Commands:', isHidden = false }: Listed,
): AnyCommand {
  return parent
    .command(name, { hidden: isHidden })
    .aliases([...aliases])
    .summary(summary)
    .description(summary)
    .helpGroup(heading);
}

/** Unknown words, each with the command to suggest. */
export interface Refused {
  /** Operations missing from the API document. */
  readonly undocumented?: Readonly<Record<string, string>>;
  /** Words from other tools, each with gpucloud's command, or with two: `me get or drives list`. */
  readonly foreign?: Readonly<Record<string, string>>;
}

/** Rejects these words with a hint; `help` prints the same error for them. */
export function refuseWords(group: AnyCommand, { undocumented = {}, foreign = {} }: Refused): void {
  const prefix = group.parent === null ? '' : `${group.name()} `;
  for (const [name, nearest] of Object.entries(undocumented)) {
    refuse(group, name, `${prefix}${name}: the API does not support this`, nearest);
  }
  for (const [name, instead] of Object.entries(foreign)) {
    refuse(group, name, `unknown command '${prefix}${name}'`, `use ${quoted(instead)}`);
  }
}

function quoted(commands: string): string {
  const each = commands.split(' or ').map((command) =>
    // `--version` needs no profile.
    command.startsWith('-') ? `gpucloud ${command}` : gpucloud(...command.split(' ')),
  );
  return each.map((command) => `"${command}"`).join(' or ');
}

function refuse(group: AnyCommand, name: string, message: string, hint: string): void {
  const command = group
    .command(name, { hidden: true })
    .argument('[anything...]')
    .allowUnknownOption()
    .helpOption(false);
  const refusal = () => usageError(message, hint);
  about(command).refusal = refusal;
  command.action(() => {
    throw refusal();
  });
}
