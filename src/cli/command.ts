import type { Argument, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings';
import { Command, CommanderError, Help, Option } from '@commander-js/extra-typings';
import type { NameKind } from '../completion/tree.ts';
import { type CliError, type Failure, usageError } from '../errors.ts';
import type { View } from '../output/output.ts';

export type AnyCommand = CommandUnknownOpts;
export type { Command, OptionValues };
export { CommanderError, Help, Option };

/**
 * What an argument or the value of a flag is completed with: names that were seen, files, some
 * words, or `nothing` where only the user knows.
 */
export type Completes =
  | NameKind
  /** Offers and images. */
  | 'catalog'
  | 'file'
  /** A file, or a path on a machine. */
  | 'path'
  /** The words of a command, or one of these topics. */
  | { readonly topics: readonly string[] }
  | 'nothing'
  | readonly string[]
  /** Words with commas between them. */
  | { readonly list: readonly string[] };

/** By the name of an argument (`name`) or of a flag (`--for`). */
type CompletesMap = Readonly<Record<string, Completes>>;

/** What the frame knows of a command beside what commander does. */
export interface About {
  /** How the result looks, for `--columns`, `--sort`, help and completion. */
  view?: View<unknown>;
  /** What arguments and flags are completed with, beyond what their names say. */
  completes?: CompletesMap;
  /**
   * After how many arguments all words are another command's, as in `ssh HOST command`. Flags that
   * are spelled like ours are then left alone.
   */
  ownWords?: number;
  /** More to know, printed under the summary. */
  notes?: string;
  examples?: readonly string[];
  /** The last lines of its help, if it has lines of its own. */
  foot?: string;
  /** Ways in which it can end that nothing else about it shows. */
  ends?: readonly Failure[];
  /** The program whose exit code becomes its own: `ssh`. */
  passesOn?: string;
  /** Global flags that it refuses: `--columns`. */
  refuses?: readonly string[];
  /** The error of a word that is no command, with what to type instead. */
  refusal?: () => CliError;
  /** It needs no service, and nothing below it does. */
  local?: boolean;
}

/**
 * A command whose optional values are taken after `=` alone: `--wait=ssh NAME` and `--wait NAME`
 * both leave NAME alone, as in gh and docker. Commander would take NAME as the value of `--wait`.
 */
class StrictCommand extends Command {
  readonly about: About = {};

  override createCommand(name?: string): Command {
    return new StrictCommand(name);
  }

  /** A bare `gpucloud instances`: whether help is the answer is for `run.ts`, which knows the format. */
  override help(): never {
    throw new BareGroup(this);
  }

  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    if (this.commands.length === 0) {
      return super.parseOptions(splitShort(this.closed(args), this.options));
    }
    const parsed = super.parseOptions(helpLast(splitShort(args, this.options, true)));
    const [word] = parsed.operands;
    // Of `nonsense --help`, commander would see the second alone and answer with the group's help.
    return word === undefined || hasBelow(this, word) ? parsed : { ...parsed, unknown: [] };
  }

  private closed(args: readonly string[]): string[] {
    const closed = closeOptionalValues(args, this.options);
    const { ownWords } = this.about;
    return ownWords === undefined ? closed : endFlags(closed, this.options, ownWords);
  }

  /** Commander names what is spelled nearly the same, and is silent where nothing is. */
  override error(message: string, how?: Parameters<Command['error']>[1]): never {
    if (how?.code === 'commander.missingArgument' || how?.code === 'commander.excessArguments') {
      const usage = [pathOf(this), ...this.registeredArguments.map(argumentTerm)].join(' ');
      const name = /missing required argument '(.+)'/.exec(message)?.[1];
      throw usageError(
        name === undefined ? 'too many arguments' : `missing argument: ${name}`,
        `usage: ${usage}`,
      );
    }
    if (how?.code === 'commander.unknownCommand' && !message.includes('(Did you mean')) {
      const words = message.replace(/^error: /, '');
      throw usageError(words, `"${pathOf(this)} --help" lists the commands`);
    }
    const flag = /unknown option '(--[a-z-]+)/.exec(message)?.[1];
    const begun =
      flag === undefined ? [] : this.options.filter(({ long }) => long?.startsWith(flag));
    if (how?.code === 'commander.unknownOption' && begun.length > 0) {
      const meant = begun.map(({ long }) => long).join(' or ');
      // Without what was given to it, which may be a secret.
      throw usageError(`unknown option '${flag}' (Did you mean ${meant}?)`);
    }
    return super.error(message, how);
  }
}

/** A group was named without one of its verbs. */
export class BareGroup extends Error {
  readonly group: AnyCommand;

  constructor(group: AnyCommand) {
    super(`${pathOf(group)} without a verb`);
    this.group = group;
  }
}

/** An argument as help shows it: `<instance>`, `[name]`, `<instance...>`. */
export function argumentTerm(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** The words that lead to a command: `gpucloud instances`. */
function pathOf(command: AnyCommand): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function hasBelow(group: AnyCommand, word: string): boolean {
  return group.commands.some((one) => one.name() === word || one.aliases().includes(word));
}

/** `--help instances list` asks what `instances list --help` does, and `--help nonsense` is wrong. */
function helpLast(args: readonly string[]): string[] {
  const [first = '', next = '-', ...more] = args;
  const isAsked = (first === '--help' || first === '-h') && !next.startsWith('-');
  return isAsked ? [next, ...more, first] : [...args];
}

/**
 * `-o=json` is `-o json`, as in gh, docker and hcloud. Commander would take the sign for a part of the
 * value. What stands after `--`, or is itself the value of a flag, stays as it is, and so does what
 * follows the word of a command where one is looked for.
 */
function splitShort(
  args: readonly string[],
  options: AnyCommand['options'],
  isGroup = false,
): string[] {
  // Most command lines have none, and V8 takes its time to compile an expression.
  if (!args.some((arg) => arg.includes('='))) return [...args];
  const split: string[] = [];
  let isValue = false;
  for (const [at, arg] of args.entries()) {
    const isEnd = arg === '--' || (isGroup && !arg.startsWith('-'));
    if (isEnd && !isValue) return [...split, ...args.slice(at)];
    const [, flags = '', value = ''] = (!isValue && /^(-[a-zA-Z]+)=(.*)$/s.exec(arg)) || [];
    const isSplit: boolean = takesNext(flags, options);
    split.push(...(isSplit ? [flags, value] : [arg]));
    isValue = !isValue && !isSplit && takesNext(arg, options);
  }
  return split;
}

/** Turns each bare `--wait` into `--wait=`, but for a `--wait` that is itself the value of a flag. */
function closeOptionalValues(args: readonly string[], options: AnyCommand['options']): string[] {
  const closed: string[] = [];
  let isValue = false;
  for (const [at, arg] of args.entries()) {
    if (arg === '--') {
      return [...closed, ...args.slice(at)];
    }
    const option: Option | undefined = isValue
      ? undefined
      : options.find((known) => known.long === arg || known.short === arg);
    isValue = option?.required === true;
    closed.push(option?.optional === true ? `${option.long}=` : arg);
  }
  return closed;
}

/** Puts a `--` where the words of another command begin, unless one is there before. */
function endFlags(args: readonly string[], options: AnyCommand['options'], own: number): string[] {
  let words = 0;
  let isValue = false;
  for (const [at, arg] of args.entries()) {
    const isWord: boolean = isValue || arg === '-' || !arg.startsWith('-');
    if (arg === '--' && !isValue) {
      return [...args];
    }
    if (isWord && !isValue) {
      words += 1;
      if (words > own) return [...args.slice(0, at), '--', ...args.slice(at)];
    }
    isValue = !isWord && takesNext(arg, options);
  }
  return [...args];
}

/** Whether a flag's value is the word after it: `--user root` and `-ti FILE`, not `--user=root`. */
function takesNext(arg: string, options: AnyCommand['options']): boolean {
  if (arg.startsWith('--')) {
    return options.some(({ long, required }) => required && long === arg);
  }
  for (const [at, letter] of [...arg].entries()) {
    const option = at === 0 ? undefined : options.find(({ short }) => short === `-${letter}`);
    // What follows its letter is its value.
    if (option?.required === true) return at === arg.length - 1;
  }
  return false;
}

/** What is known of a command beyond its arguments and flags. */
export function about(command: AnyCommand): About {
  if (!(command instanceof StrictCommand)) throw new TypeError('a command of another tree');
  return command.about;
}

/** Whether a command needs no service, by itself or because its group needs none. */
export function isLocal(command: AnyCommand): boolean {
  return about(command).local === true || (command.parent !== null && isLocal(command.parent));
}

/** The root of a new tree. Every command below it is made with `parent.command()` and inherits. */
export function newProgram(name: string): Command {
  return new StrictCommand(name);
}
