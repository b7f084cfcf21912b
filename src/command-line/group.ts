import { usageError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { type AnyCommand, about } from './command.ts';
import type { Listed, Verb } from './verb.ts';

/** A group's line in the root's help, which runs no group's file. */
interface ListedGroup extends Listed {
  group(): Group;
}

/** Commands by name, in the order of the help. A function runs a verb's own file when needed. */
type Commands = Readonly<Record<string, Verb | ListedGroup | (() => Verb)>>;

/** A command that has commands. The program itself is one. */
export type Group = Refused & {
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
