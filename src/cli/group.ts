import type { AnyCommand } from './command.ts';
import type { Frame } from './frame.ts';

/** Gives a command its arguments, flags and action. */
export type Register = (command: AnyCommand, frame: Frame) => void;

/** A command as it is listed. Its code loads when it is chosen. */
export interface Listed {
  /** `list`, `stop`. */
  readonly name: string;
  /** Other words for it: `ls`, `rm`. */
  readonly aliases?: readonly string[];
  /** One line, without a full stop. */
  readonly summary: string;
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
  /** What people will look for and the service has not; see undocumented.ts. */
  readonly undocumented?: Readonly<Record<string, string>>;
}

/** What a word names; undefined where it names nothing. */
export function namedBy<T extends Listed>(all: readonly T[], word: string): T | undefined {
  return all.find(({ name, aliases }) => name === word || aliases?.includes(word) === true);
}

/** Adds a command as it is listed. */
export function addListed(parent: AnyCommand, { name, aliases = [], summary }: Listed): AnyCommand {
  return parent
    .command(name)
    .aliases([...aliases])
    .summary(summary)
    .description(summary);
}
