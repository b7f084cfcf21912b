import type { Listed, Verb } from './verb.ts';

/** A group's line in the root's help, which runs no group's file. */
interface ListedGroup extends Listed {
  group(): Group;
}

/** Commands by name, in the order of the help. A function runs a verb's own file when needed. */
type Commands = Readonly<Record<string, Verb | ListedGroup | (() => Verb)>>;

/** A command that has commands. The program itself is one. */
export type Group = {
  /** Complete example commands. */
  readonly examples: readonly string[];
  /** The last lines of its help. */
  readonly foot?: string;
} & (
  | { readonly verbs: Commands }
  /** Its commands under the headings of its help: `Connect:`. */
  | { readonly chapters: Readonly<Record<string, Commands>> }
);

/** A command in its group. */
export interface Entry {
  readonly name: string;
  readonly heading: string;
  load(): Verb | ListedGroup;
}

export function entriesOf(group: Group): Entry[] {
  const chapters = 'verbs' in group ? { 'Commands:': group.verbs } : group.chapters;
  return Object.entries(chapters).flatMap(([heading, commands]) =>
    Object.entries(commands).map(([name, one]) => ({
      name,
      heading,
      load: () => (typeof one === 'function' ? one() : one),
    })),
  );
}

/** Finds a command by name or alias. */
export function namedBy(entries: readonly Entry[], word: string): Entry | undefined {
  return (
    entries.find(({ name }) => name === word) ??
    entries.find((entry) => entry.load().aliases?.includes(word))
  );
}
