import type {
  ArgumentReference,
  FlagReference,
  Reference,
} from '../../src/command-line/reference/index.ts';

/** The names and flags that scripts may use. */
export interface CommandPromises {
  readonly aliases: readonly string[];
  /** The arguments by position. */
  readonly arguments: readonly (readonly string[])[];
  /** The command's own flags. */
  readonly flags: Readonly<Record<string, readonly string[]>>;
  readonly without_global_flags: readonly string[];
  readonly columns: readonly string[];
}

export interface Promises {
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly commands: Readonly<Record<string, CommandPromises>>;
  readonly global_flags: Readonly<Record<string, readonly string[]>>;
  readonly exit_codes: Readonly<Record<string, readonly string[]>>;
  readonly formats: readonly string[];
  readonly topics: readonly string[];
}

const OPTIONAL = 'may be left out';

export function promisesOf(reference: Reference): Promises {
  const { groups, commands, global_flags, exit_codes, formats, topics } = reference;
  return {
    groups: Object.fromEntries(groups.map(({ name, aliases }) => [name, aliases])),
    commands: Object.fromEntries(
      commands.map(
        ({ command, aliases, arguments: given, flags, columns, without_global_flags }) => [
          command,
          {
            aliases,
            arguments: given.map(ofArgument),
            flags: ofFlags(flags),
            without_global_flags,
            columns: columns.map(({ name }) => name),
          },
        ],
      ),
    ),
    global_flags: ofFlags(global_flags),
    exit_codes: Object.fromEntries(
      exit_codes.map(({ exit_code }) => [
        exit_code,
        exit_codes.filter((row) => row.exit_code === exit_code).map(({ code }) => code ?? 'done'),
      ]),
    ),
    formats,
    topics: topics.map(({ name }) => name),
  };
}

function ofArgument({ required, variadic, type, choices }: ArgumentReference): string[] {
  return [
    ...(required ? [] : [OPTIONAL]),
    ...(variadic ? ['several'] : []),
    ...form(type, choices),
  ];
}

function ofFlags(flags: readonly FlagReference[]): Record<string, string[]> {
  return Object.fromEntries(
    flags.map(({ long, short, type, choices, value_optional, repeatable }) => [
      long,
      [
        ...(short === null ? [] : [short]),
        ...form(type, choices),
        ...(value_optional ? ['value may be left out'] : []),
        ...(repeatable ? ['several'] : []),
      ],
    ]),
  );
}

/** A string may become an enum and back, but a switch can't become either. */
function form(type: string, choices: readonly string[] | null): string[] {
  return [
    type === 'boolean' ? 'switch' : 'value',
    ...(choices ?? []).map((word) => `takes ${word}`),
  ];
}

/** Returns the missing or changed parts. Additions are allowed. */
export function broken(before: Promises, now: Promises): string[] {
  const faults = [
    ...missing('group', before.groups, now.groups),
    ...missing('global flag', before.global_flags, now.global_flags),
    ...missing('exit code', before.exit_codes, now.exit_codes),
    ...gone('format', before.formats, now.formats),
    ...gone('topic', before.topics, now.topics),
  ];
  for (const [command, old] of Object.entries(before.commands)) {
    const current = now.commands[command];
    if (current === undefined) {
      faults.push(`command "${command}" is gone`);
      continue;
    }
    faults.push(
      ...gone(`"${command}": alias`, old.aliases, current.aliases),
      ...gone(`"${command}": column`, old.columns, current.columns),
      ...missing(`"${command}": flag`, flagsOf(old, before), flagsOf(current, now)),
      ...brokenArguments(command, old.arguments, current.arguments),
    );
  }
  return faults;
}

/** Returns all flags of a command. A flag may become global and back. */
function flagsOf({ flags, without_global_flags }: CommandPromises, { global_flags }: Promises) {
  const shared = Object.entries(global_flags).filter(
    ([name]) => !without_global_flags.includes(name),
  );
  return { ...Object.fromEntries(shared), ...flags };
}

function brokenArguments(
  command: string,
  before: readonly (readonly string[])[],
  now: readonly (readonly string[])[],
): string[] {
  const kept = before.flatMap((old, at) =>
    gone(`"${command}": argument ${at + 1}`, old, now[at] ?? []),
  );
  const added = now.slice(before.length).filter((one) => !one.includes(OPTIONAL));
  return [...kept, ...added.map(() => `"${command}" needs an argument more than before`)];
}

function missing(
  what: string,
  before: Readonly<Record<string, readonly string[]>>,
  now: Readonly<Record<string, readonly string[]>>,
): string[] {
  return Object.entries(before).flatMap(([name, words]) => {
    const current = now[name];
    return current === undefined
      ? [`${what} ${name} is gone`]
      : gone(`${what} ${name}`, words, current);
  });
}

function gone(what: string, before: readonly string[], now: readonly string[]): string[] {
  return before.filter((word) => !now.includes(word)).map((word) => `${what}: "${word}" is gone`);
}
