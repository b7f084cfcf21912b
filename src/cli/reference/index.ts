import type { Offer } from '../../completion/tree.ts';
import { codeOf, FAILURES, type Failure } from '../../errors.ts';
import { FORMATS, type View } from '../../output/output.ts';
import { type AnyCommand, about, isLocal, type Option } from '../command.ts';
import { GLOBAL_HEADING, TOPICS } from '../help.ts';
import { isRepeated } from '../parse.ts';
import { ENVIRONMENT, type Setting } from './environment.ts';
import { offerOfArgument, offerOfFlag } from './offers.ts';

/** What a value is, as far as its form goes; `enum` lists its words in `choices`. */
export type ValueType =
  | 'boolean'
  | 'string'
  | 'enum'
  | 'list'
  | 'number'
  | 'duration'
  | 'time'
  | 'path'
  | 'url';

export interface ArgumentReference {
  readonly name: string;
  readonly required: boolean;
  /** Several may be given. */
  readonly variadic: boolean;
  readonly type: ValueType;
  readonly choices: readonly string[] | null;
  readonly default: string | null;
  readonly description: string;
}

export interface FlagReference {
  /** `--output`. */
  readonly long: string;
  /** `-o`. */
  readonly short: string | null;
  readonly type: ValueType;
  /** The name of its value in the help; null for a switch. */
  readonly value: string | null;
  /** The value may be left out, and is given after `=` alone. */
  readonly value_optional: boolean;
  /** It may be given several times. */
  readonly repeatable: boolean;
  /** Another word than these is refused, or for a list unknown to this version. */
  readonly choices: readonly string[] | null;
  readonly default: string | null;
  readonly description: string;
}

export interface ColumnReference {
  readonly name: string;
  readonly kind: string;
  /** Whether it is there without `--columns`. */
  readonly shown: boolean;
}

export interface CommandReference {
  /** `instances create`. */
  readonly command: string;
  readonly words: readonly string[];
  /** Other words for the last of them. */
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly notes: string | null;
  readonly usage: string;
  readonly arguments: readonly ArgumentReference[];
  /** Its own; `global_flags` go with every command. */
  readonly flags: readonly FlagReference[];
  /** Global flags that it does not take: it refuses them, or has one of its own in their place. */
  readonly without_global_flags: readonly string[];
  /** What `--columns` and `--sort` take; empty where the result has none. */
  readonly columns: readonly ColumnReference[];
  readonly examples: readonly string[];
  /** It ends with one of these, and with no other but those that it passes on. */
  readonly exit_codes: readonly number[];
  /** The program whose exit code becomes its own once it was started; null for most. */
  readonly passes_on_exit_code_of: string | null;
}

export interface GroupReference {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  /** The part of the help in which it stands. */
  readonly chapter: string;
}

/** The whole command line as data: a contract with tools, to which things are only added. */
export interface Reference {
  readonly name: string;
  readonly version: string;
  readonly summary: string;
  /** The words that stand first: groups of commands, and commands of the root. */
  readonly groups: readonly GroupReference[];
  readonly commands: readonly CommandReference[];
  readonly global_flags: readonly FlagReference[];
  readonly exit_codes: readonly ExitCode[];
  readonly environment: readonly EnvironmentReference[];
  readonly formats: readonly string[];
  readonly topics: readonly { readonly name: string; readonly summary: string }[];
}

export interface ExitCode {
  readonly exit_code: number;
  /** The `code` of the error in JSON; null for success. */
  readonly code: string | null;
  readonly meaning: string;
}

export interface EnvironmentReference {
  readonly variables: readonly string[];
  readonly flag: string | null;
  readonly meaning: string;
}

/** Every exit code, done first. */
export const EXIT_CODES: readonly ExitCode[] = [
  { exit_code: 0, code: null, meaning: 'done' },
  ...(Object.keys(FAILURES) as Failure[]).map((failure) => ({
    exit_code: FAILURES[failure].exit,
    code: codeOf(failure),
    meaning: FAILURES[failure].meaning,
  })),
];

/** Describes a whole tree; what the help hides is left out. */
export function referenceOf(root: AnyCommand): Reference {
  const groups = root.createHelp().visibleCommands(root);
  return {
    name: root.name(),
    version: (root.version() ?? '').replace(/^\S+ /, ''),
    summary: root.description(),
    groups: groups.map((group) => ({
      name: group.name(),
      aliases: group.aliases(),
      summary: group.summary(),
      chapter: group.helpGroup().replace(/:$/, ''),
    })),
    commands: groups.flatMap((group) => commandsBelow(group, [group.name()], root)),
    global_flags: root.options.filter(isGlobal).map((option) => flagOf(root, option)),
    exit_codes: EXIT_CODES,
    environment: ENVIRONMENT.map(environmentOf),
    formats: FORMATS,
    topics: TOPICS,
  };
}

function commandsBelow(
  command: AnyCommand,
  words: readonly string[],
  root: AnyCommand,
): CommandReference[] {
  const below = command.createHelp().visibleCommands(command);
  return below.length === 0
    ? [commandOf(command, words, root)]
    : below.flatMap((next) => commandsBelow(next, [...words, next.name()], root));
}

function commandOf(
  command: AnyCommand,
  words: readonly string[],
  root: AnyCommand,
): CommandReference {
  const { view, notes = null, examples = [], refuses = [], passesOn = null } = about(command);
  const args = command.registeredArguments.map((argument) => argumentOf(command, argument));
  return {
    command: words.join(' '),
    words,
    aliases: command.aliases(),
    summary: command.summary(),
    notes,
    usage: [root.name(), ...words, '[options]', ...args.map(argumentTerm)].join(' '),
    arguments: args,
    flags: command.options
      .filter((option) => !isGlobal(option) && !option.hidden)
      .map((option) => flagOf(command, option)),
    without_global_flags: root.options
      .filter(
        (option) => isGlobal(option) && !command.options.some((own) => sameGlobal(own, option)),
      )
      .flatMap(({ long }) => long ?? [])
      .concat(refuses),
    columns: columnsOf(view),
    examples,
    exit_codes: exitCodesOf(command),
    passes_on_exit_code_of: passesOn,
  };
}

function isGlobal(option: Option): boolean {
  return option.helpGroupHeading === GLOBAL_HEADING;
}

function sameGlobal(own: Option, option: Option): boolean {
  return isGlobal(own) && own.long === option.long;
}

export function argumentTerm({ name, required, variadic }: ArgumentReference): string {
  const shown = variadic ? `${name}...` : name;
  return required ? `<${shown}>` : `[${shown}]`;
}

function argumentOf(
  command: AnyCommand,
  argument: AnyCommand['registeredArguments'][number],
): ArgumentReference {
  const offer = offerOfArgument(command, argument);
  return {
    name: argument.name(),
    required: argument.required,
    variadic: argument.variadic,
    type: typeOf(offer, argument.name()),
    choices: choicesOf(offer),
    default: defaultOf(argument),
    description: argument.description,
  };
}

function flagOf(command: AnyCommand, option: Option): FlagReference {
  const value = /[<[]([^>\].]+)(?:\.\.\.)?[>\]]/.exec(option.flags)?.[1] ?? null;
  const offer = offerOfFlag(command, option);
  return {
    long: option.long ?? option.flags,
    short: option.short ?? null,
    type: value === null ? 'boolean' : typeOf(offer, value),
    value,
    value_optional: option.optional,
    repeatable: option.variadic || isRepeated(option.parseArg),
    choices: choicesOf(offer),
    default: option.negate ? null : defaultOf(option),
    description: option.description,
  };
}

/** Forms that the word for a value tells. */
const TYPES: Readonly<Record<string, ValueType>> = {
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

function typeOf(offer: Offer | undefined, word: string): ValueType {
  switch (offer?.kind) {
    case 'words':
      return 'enum';
    case 'list':
      return 'list';
    case 'file':
      return 'path';
    default:
      return TYPES[word] ?? 'string';
  }
}

function choicesOf(offer: Offer | undefined): readonly string[] | null {
  return offer?.kind === 'words' || offer?.kind === 'list' ? offer.words : null;
}

/** In words, as the help has it: a default is often a rule and no value. */
function defaultOf(described: {
  readonly description: string;
  readonly defaultValue?: unknown;
  readonly defaultValueDescription?: string | undefined;
}): string | null {
  const { description, defaultValue, defaultValueDescription } = described;
  const inWords = defaultValueDescription ?? /\(default: (.+)\)$/.exec(description)?.[1];
  if (inWords !== undefined) {
    return inWords;
  }
  return typeof defaultValue === 'string' || typeof defaultValue === 'number'
    ? String(defaultValue)
    : null;
}

function columnsOf(view: View<unknown> | undefined): ColumnReference[] {
  return (view?.columns ?? []).map(({ id, kind = 'text', hidden }) => ({
    name: id,
    kind,
    shown: hidden !== true,
  }));
}

function environmentOf({ variables, flag, meaning }: Setting): EnvironmentReference {
  return { variables, flag: flag ?? null, meaning: meaning.replaceAll('`', '') };
}

/** Whatever it does, a command may be told wrong, find nothing, fail to write, or be stopped. */
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

/** Of every command that waits for a status; these are the ones with a time between readings. */
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
