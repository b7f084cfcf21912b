import type { CompletionValue } from '../../completion/values.ts';
import { codeOf, FAILURES, type Failure, FINER_CODES } from '../../errors.ts';
import { resultSchemaOf } from '../../json-results/index.ts';
import { FORMATS, type View } from '../../output/output.ts';
import { WARNINGS } from '../../warnings.ts';
import { type AnyCommand, about, argumentTerm, isLocal, type Option } from '../command.ts';
import { GLOBAL_HEADING, TOPICS } from '../help.ts';
import { isRepeated } from '../parse.ts';
import type { ToolFacts } from '../tool-facts.ts';
import { placeholderOf, valueOfArgument, valueOfFlag } from './completion-values.ts';
import { ENVIRONMENT } from './environment.ts';

/**
 * Describes the whole command line as data. Tools rely on it, so fields are only added.
 * docs/commands/README.md, "The tree as data", explains the fields.
 */
export type Reference = ReturnType<typeof referenceOf>;
export type CommandReference = ReturnType<typeof commandOf>;
export type ArgumentReference = ReturnType<typeof argumentOf>;
export type FlagReference = ReturnType<typeof flagOf>;

/** Every exit code in ascending order. */
export const EXIT_CODES = [
  { exit_code: 0, code: null, meaning: 'done' },
  ...(Object.keys(FAILURES) as Failure[])
    .sort((a, b) => FAILURES[a].exit - FAILURES[b].exit)
    .flatMap((failure) => {
      const { exit: exit_code, meaning } = FAILURES[failure];
      const finer = FINER_CODES.filter((one) => one.failure === failure);
      return [
        { exit_code, code: codeOf(failure), meaning },
        ...finer.map(({ code, meaning }) => ({ exit_code, code, meaning })),
      ];
    }),
];

/** Describes a whole tree, without hidden commands and flags. */
export function referenceOf(root: AnyCommand) {
  const groups = root.createHelp().visibleCommands(root);
  return {
    name: root.name(),
    version: String(root.version()).replace(/^\S+ /, ''),
    summary: root.description(),
    groups: groups.map(groupOf),
    commands: commandsOf(root, root),
    global_flags: root.options.filter(isGlobal).map((option) => flagOf(root, option)),
    exit_codes: EXIT_CODES,
    warnings: Object.entries(WARNINGS).map(([code, meaning]) => ({ code, meaning })),
    environment: ENVIRONMENT.map(({ variables, flag = null, meaning }) => ({
      variables,
      flag,
      meaning: meaning.replaceAll('`', ''),
    })),
    formats: FORMATS,
    topics: TOPICS,
  };
}

/** Returns a group as its parent lists it. */
export function groupOf(group: AnyCommand) {
  return {
    name: group.name(),
    aliases: group.aliases(),
    summary: group.summary(),
    heading: group.helpGroup().replace(/:$/, ''),
  };
}

/** Returns the command itself, or all commands of a group. */
export function commandsOf(command: AnyCommand, root: AnyCommand): CommandReference[] {
  const below = command.createHelp().visibleCommands(command);
  return below.length === 0
    ? [commandOf(command, root)]
    : below.flatMap((next) => commandsOf(next, root));
}

function wordsOf(command: AnyCommand): string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
}

function commandOf(command: AnyCommand, root: AnyCommand) {
  const words = wordsOf(command);
  const { view, notes = null, examples = [], refuses = [], passesOn = null, tool } = about(command);
  const args = command.registeredArguments;
  return {
    command: words.join(' '),
    words,
    aliases: command.aliases(),
    summary: command.summary(),
    notes,
    usage: [root.name(), ...words, '[options]', ...args.map(argumentTerm)].join(' '),
    arguments: args.map((argument) => argumentOf(command, argument)),
    flags: command.options
      .filter((option) => !isGlobal(option) && !option.hidden)
      .map((option) => flagOf(command, option)),
    without_global_flags: refuses,
    columns: columnsOf(view),
    examples,
    exit_codes: exitCodesOf(command),
    passes_on_exit_code_of: passesOn,
    /** How `gpucloud mcp` offers the command to agents; null if it does not. */
    tool: tool === undefined ? null : toolOf(tool),
    /**
     * Path in the npm package, with the part of the file. Null for a command that prints text or
     * arbitrary service JSON.
     */
    result_schema: resultSchemaOf(words),
  };
}

function toolOf({ allow, destroys, idempotent, asks, without = [] }: ToolFacts) {
  return {
    allow,
    destructive: destroys === true,
    idempotent: allow === 'read' || idempotent === true,
    confirms: asks === true,
    without_flags: without,
  };
}

function isGlobal(option: Option): boolean {
  return option.helpGroupHeading === GLOBAL_HEADING;
}

function argumentOf(command: AnyCommand, argument: AnyCommand['registeredArguments'][number]) {
  const values = valueOfArgument(command, argument);
  return {
    name: argument.name(),
    required: argument.required,
    variadic: argument.variadic,
    type: typeOf(values, argument.name()),
    choices: choicesOf(values),
    default: defaultOf(argument),
    description: argument.description,
  };
}

function flagOf(command: AnyCommand, option: Option) {
  const value = placeholderOf(option) ?? null;
  const values = valueOfFlag(command, option);
  return {
    long: `--${option.name()}`,
    short: option.short ?? null,
    type: value === null ? ('boolean' as const) : typeOf(values, value),
    value,
    value_optional: option.optional,
    repeatable: option.variadic || isRepeated(option.parseArg),
    choices: choicesOf(values),
    default: defaultOf(option),
    description: option.description,
  };
}

/** Types implied by a value's placeholder. */
const TYPES: Readonly<Record<string, 'duration' | 'time' | 'number' | 'path' | 'url' | 'list'>> = {
  duration: 'duration',
  time: 'time',
  number: 'number',
  gb: 'number',
  rub: 'number',
  roubles: 'number',
  file: 'path',
  folder: 'path',
  url: 'url',
  ids: 'list',
};

function typeOf(values: CompletionValue | undefined, word: string) {
  if (values?.kind === 'words') return 'enum';
  if (values?.kind === 'list') return 'list';
  if (values?.kind === 'file') return 'path';
  return TYPES[word] ?? 'string';
}

function choicesOf(values: CompletionValue | undefined): readonly string[] | null {
  return values?.kind === 'words' || values?.kind === 'list' ? values.words : null;
}

/** Returns the default as text, as in the help: it may describe a rule instead of a value. */
function defaultOf(described: {
  readonly description: string;
  readonly defaultValue?: unknown;
  readonly defaultValueDescription?: string | undefined;
}): string | null {
  const { description, defaultValue: value, defaultValueDescription } = described;
  const inWords = defaultValueDescription ?? /\(default: (.+)\)$/.exec(description)?.[1];
  if (inWords !== undefined) return inWords;
  return typeof value === 'string' ? value : null;
}

function columnsOf(view: View<unknown> | undefined) {
  return (view?.columns ?? []).map(({ id, kind = 'text', hidden }) => ({
    name: id,
    kind,
    shown: hidden !== true,
  }));
}

/** Failures possible in any command: a typo, not found, a failed write, an interrupt. */
const ANY: readonly Failure[] = [
  'refused',
  'usage',
  'notFound',
  'storage',
  'hungUp',
  'interrupted',
  'terminated',
];

const OF_THE_SERVICE: readonly Failure[] = [
  'authentication',
  'wrongState',
  'unreachable',
  'outcomeUnknown',
  'notUnderstood',
  'rateLimited',
];

/** Failures of commands that wait for a status; identified by --poll-interval. */
const OF_WAITING: readonly Failure[] = ['deadline', 'otherEnd'];

function exitCodesOf(command: AnyCommand): number[] {
  const waits = command.options.some(({ long }) => long === '--poll-interval');
  const failures = [
    ...ANY,
    ...(isLocal(command) ? [] : OF_THE_SERVICE),
    ...(waits ? OF_WAITING : []),
    ...(about(command).ends ?? []),
  ];
  const codes = new Set([0, ...failures.map((failure) => FAILURES[failure].exit)]);
  return [...codes].sort((a, b) => a - b);
}
