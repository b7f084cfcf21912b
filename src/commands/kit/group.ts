import type { AnyCommand } from './command.ts';
import type { Frame } from './frame.ts';

/** Adds a verb to its group, with its arguments, flags and action. */
export type Register = (group: AnyCommand, frame: Frame) => void;

/** The verbs of a group. The code of each loads when it is chosen. */
export interface Group {
  /** In the order of the help, each under its name and its other words: `list ls`. */
  readonly verbs: Readonly<Record<string, () => Promise<Register>>>;
  /** What people will look for and the service has not; see undocumented.ts. */
  readonly undocumented?: Readonly<Record<string, string>>;
}

/** The verb that a word names; undefined where it names none. */
export function verbOf(group: Group, word: string): (() => Promise<Register>) | undefined {
  return Object.entries(group.verbs).find(([names]) => names.split(' ').includes(word))?.[1];
}
