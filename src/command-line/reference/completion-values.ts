import type { CompletionValue, NameKind } from '../../completion/values.ts';
import { type AnyCommand, about, type Completes, type Option } from '../command.ts';
import { wordsOf } from '../parse.ts';

/**
 * Placeholders named after a resource complete its names: `<instance...>`, `[drive]`, `--ssh-key
 * <key>`, `--offer <offer>`, `--profile <name>`. Most verbs therefore need no declaration.
 */
const THINGS: Readonly<Record<string, Completes>> = {
  instance: 'instance',
  drive: 'drive',
  'ssh-key': 'ssh-key',
  template: 'template',
  offer: 'offer',
  image: 'image',
  profile: 'profile',
};

/**
 * Placeholders with the same meaning in every command: `-f, --file <file>`. Other placeholders need
 * an entry in the verb's `completes`, which may be `nothing`. A test checks that.
 */
const PLACEHOLDERS: Readonly<Record<string, Completes>> = {
  file: 'file',
  path: 'file',
  // Values known only to the user.
  url: 'nothing',
  jmespath: 'nothing',
  duration: 'nothing',
  number: 'nothing',
  time: 'nothing',
  id: 'nothing',
  rub: 'nothing',
  roubles: 'nothing',
  amount: 'nothing',
  code: 'nothing',
  gb: 'nothing',
  size: 'nothing',
  variable: 'nothing',
  'key=value': 'nothing',
  word: 'nothing',
  mapping: 'nothing',
};

type Argument = AnyCommand['registeredArguments'][number];

export function valueOfArgument(command: AnyCommand, argument: Argument): CompletionValue {
  return asValue(decidedForArgument(command, argument) ?? 'nothing');
}

/** Returns an argument's completion, or undefined if none is declared. */
export function decidedForArgument(command: AnyCommand, argument: Argument): Completes | undefined {
  const name = argument.name();
  return (
    about(command).completes?.[name] ??
    wordsOf(argument.parseArg) ??
    THINGS[name] ??
    PLACEHOLDERS[name]
  );
}

/** Returns the completion of a flag's value, or undefined for a switch. */
export function valueOfFlag(command: AnyCommand, option: Option): CompletionValue | undefined {
  if (placeholderOf(option) === undefined) return undefined;
  const columns = columnValue(command, `--${option.name()}`);
  return columns ?? asValue(decidedForFlag(command, option) ?? 'nothing');
}

/** Returns a flag's completion: undefined if none is declared, `nothing` for a switch. */
export function decidedForFlag(command: AnyCommand, option: Option): Completes | undefined {
  const placeholder = placeholderOf(option);
  const long = `--${option.name()}`;
  if (placeholder === undefined || COLUMN_FLAGS.includes(long)) return 'nothing';
  return (
    about(command).completes?.[long] ??
    wordsOf(option.parseArg) ??
    THINGS[long.slice(2)] ??
    PLACEHOLDERS[placeholder]
  );
}

/** Returns the placeholder of a flag's value: `file` for `--input <file>`. */
export function placeholderOf(option: Option): string | undefined {
  return /[<[]([^>\].]+)(?:\.\.\.)?[>\]]/.exec(option.flags)?.[1];
}

const COLUMN_FLAGS: readonly string[] = ['--columns', '--sort'];

function columnValue(command: AnyCommand, long: string): CompletionValue | undefined {
  if (!COLUMN_FLAGS.includes(long)) {
    return undefined;
  }
  const words = about(command).view?.columns.map(({ id }) => id);
  if (words === undefined) {
    return { kind: 'free' };
  }
  return { kind: long === '--sort' ? 'sort' : 'list', words };
}

function asValue(completes: Completes): CompletionValue {
  if (typeof completes === 'object') {
    if ('list' in completes) return { kind: 'list', words: completes.list };
    if ('topics' in completes) return { kind: 'command', topics: completes.topics };
    return { kind: 'words', words: completes };
  }
  switch (completes) {
    case 'nothing':
      return { kind: 'free' };
    case 'file':
    case 'path':
      return { kind: completes };
    case 'catalog':
      return { kind: 'names', of: ['offer', 'image'] };
    default:
      return { kind: 'names', of: [completes as NameKind] };
  }
}
