import type { Context, Host } from '../context.ts';
import { type CliError, usageError } from '../errors.ts';
import { type AnyCommand, about } from './command.ts';

/** What the tree of commands runs in. */
export interface Runtime {
  /** Reads the global flags of the command and its parents; made once per run. */
  context(command: AnyCommand): Context;
  /** A second tree with the verbs of every group; its help goes where that of the first goes. */
  wholeTree(): Promise<AnyCommand>;
  readonly rerun: Rerun;
}

/**
 * Runs another command line as if it had been typed, on the same host but for `changes`, and returns
 * its exit code. For what shows commands, such as the tour.
 */
export type Rerun = (
  argv: readonly string[],
  changes: Partial<Pick<Host, 'env' | 'stdout' | 'stderr'>>,
) => Promise<number>;

/** Gives a command its arguments, flags and action. */
export type Register = (command: AnyCommand, runtime: Runtime) => void;

/** A command as it is listed. Its code loads when it is chosen. */
export interface Listed {
  /** `list`, `stop`. */
  readonly name: string;
  /** Other words for it: `ls`, `rm`. */
  readonly aliases?: readonly string[];
  /** One line, without a full stop. */
  readonly summary: string;
  /** The heading above it in the help: `Connect:`. */
  readonly heading?: string;
}

export interface Verb extends Listed {
  /** Its arguments as the help of the group shows them: `<instance> [ports]`. */
  readonly usage?: string;
  load(): Promise<Register>;
}

export interface Group {
  /** In the order of the help. */
  readonly verbs: readonly Verb[];
  /** Whole command lines that tell what the group is for. */
  readonly examples: readonly string[];
  /** What people will look for and the service has not; see {@link undocumented}. */
  readonly undocumented?: Readonly<Record<string, string>>;
}

/** What a word names; undefined where it names nothing. */
export function namedBy<T extends Listed>(all: readonly T[], word: string): T | undefined {
  return all.find(({ name, aliases }) => name === word || aliases?.includes(word) === true);
}

/** Adds a command as it is listed. */
export function addListed(
  parent: AnyCommand,
  { name, aliases = [], summary, heading = 'Commands:' }: Listed,
): AnyCommand {
  return parent
    .command(name)
    .aliases([...aliases])
    .summary(summary)
    .description(summary)
    .helpGroup(heading);
}

/**
 * Operations that people will look for and that the service's API document does not have: they
 * exit 2, say so and name the nearest thing there is. `help` says the same of them.
 */
export function undocumented(group: AnyCommand, verbs: Readonly<Record<string, string>>): void {
  for (const [name, nearest] of Object.entries(verbs)) {
    const command = group
      .command(name, { hidden: true })
      .argument('[anything...]')
      .allowUnknownOption()
      .helpOption(false);
    about(command).nearest = nearest;
    command.action(() => {
      throw notPublished(command, nearest);
    });
  }
}

/** The error of an undocumented operation; undefined for any other command. */
export function undocumentedError(command: AnyCommand): CliError | undefined {
  const { nearest } = about(command);
  return nearest === undefined ? undefined : notPublished(command, nearest);
}

function notPublished(command: AnyCommand, nearest: string): CliError {
  const { parent } = command;
  const asked =
    parent === null || parent.parent === null
      ? command.name()
      : `${parent.name()} ${command.name()}`;
  return usageError(`${asked}: not in the published API`, nearest);
}
