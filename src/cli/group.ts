import type { Context, Host } from '../context.ts';
import { usageError } from '../errors.ts';
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

export interface Group extends Refused {
  /** In the order of the help. */
  readonly verbs: readonly Verb[];
  /** Whole command lines that show what the group is for. */
  readonly examples: readonly string[];
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

/** Words that people type and that are no commands, with what to type instead. */
export interface Refused {
  /** Operations that the service's API document does not have. */
  readonly undocumented?: Readonly<Record<string, string>>;
  /** Words of other tools: the command that does it here, as `instances ssh NAME`. */
  readonly foreign?: Readonly<Record<string, string>>;
}

/** Adds the words that are refused; `help` says the same of them. */
export function refuseWords(group: AnyCommand, { undocumented = {}, foreign = {} }: Refused): void {
  const prefix = group.parent === null ? '' : `${group.name()} `;
  for (const [name, nearest] of Object.entries(undocumented)) {
    refuse(group, name, `${prefix}${name}: not in the published API`, nearest);
  }
  for (const [name, instead] of Object.entries(foreign)) {
    refuse(group, name, `unknown command '${prefix}${name}'`, `use "gpucloud ${instead}"`);
  }
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
