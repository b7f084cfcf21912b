import type { NameKind, Offer } from '../../completion/tree.ts';
import type { AnyCommand, Option } from './command.ts';
import { completesOf, viewOf } from './command.ts';
import { wordsOf } from './parse.ts';

/**
 * What an argument or the value of a flag is completed with: names that were seen, files, some
 * words, or `nothing` where only the user knows.
 */
export type Completes =
  | NameKind
  | 'terminated-instance'
  /** Offers and images. */
  | 'catalog'
  | 'file'
  | 'port'
  | 'command'
  | 'nothing'
  | readonly string[]
  /** Words with commas between them. */
  | { readonly list: readonly string[] };

/** By the name of an argument (`name`) or of a flag (`--for`). */
export type CompletesMap = Readonly<Record<string, Completes>>;

/**
 * What is called by the name of a thing completes that thing, so that most verbs need say nothing:
 * `<instance...>`, `[drive]`, `--ssh-key <key>`, `--offer <offer>`, `--profile <name>`.
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

/** Placeholders that say the same wherever they stand: `-f, --file <file>`. */
const PLACEHOLDERS: Readonly<Record<string, Completes>> = { file: 'file' };

type Argument = AnyCommand['registeredArguments'][number];

export function offerOfArgument(command: AnyCommand, argument: Argument): Offer {
  const name = argument.name();
  return asOffer(
    completesOf(command)?.[name] ??
      wordsOf(argument.parseArg) ??
      THINGS[name] ??
      PLACEHOLDERS[name] ??
      'nothing',
  );
}

/** undefined for a switch, which takes no value. */
export function offerOfFlag(command: AnyCommand, option: Option): Offer | undefined {
  const placeholder = /[<[]([^>\].]+)(?:\.\.\.)?[>\]]/.exec(option.flags)?.[1];
  if (placeholder === undefined) {
    return undefined;
  }
  const long = option.long ?? '';
  return (
    columnsOffer(command, long) ??
    asOffer(
      completesOf(command)?.[long] ??
        wordsOf(option.parseArg) ??
        THINGS[long.slice(2)] ??
        PLACEHOLDERS[placeholder] ??
        'nothing',
    )
  );
}

function columnsOffer(command: AnyCommand, long: string): Offer | undefined {
  if (long !== '--columns' && long !== '--sort') {
    return undefined;
  }
  const words = viewOf(command)?.columns.map(({ id }) => id);
  if (words === undefined) {
    return { kind: 'free' };
  }
  return { kind: long === '--sort' ? 'sort' : 'list', words };
}

function asOffer(completes: Completes): Offer {
  if (typeof completes === 'object') {
    return 'list' in completes
      ? { kind: 'list', words: completes.list }
      : { kind: 'words', words: completes };
  }
  switch (completes) {
    case 'nothing':
      return { kind: 'free' };
    case 'file':
    case 'port':
    case 'command':
      return { kind: completes };
    case 'catalog':
      return { kind: 'names', of: ['offer', 'image'] };
    default:
      return { kind: 'names', of: [completes] };
  }
}
