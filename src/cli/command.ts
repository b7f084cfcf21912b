import type { Argument, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings';
import { Command, CommanderError, Help, Option } from '@commander-js/extra-typings';
import type { NameKind } from '../completion/tree.ts';
import { type CliError, type Failure, usageError } from '../errors.ts';
import type { View } from '../output/output.ts';
import { isRepeated } from './parse.ts';

export type AnyCommand = CommandUnknownOpts;
export type { Command, OptionValues };
export { CommanderError, Help, Option };

/**
 * What Tab completes for an argument or flag: known names, files or fixed words. `nothing` if only
 * the user knows the value.
 */
export type Completes =
  | NameKind
  /** Both offers and images. */
  | 'catalog'
  | 'file'
  /** A local file, or a path on an instance. */
  | 'path'
  /** Words of a command, or one of these help topics. */
  | { readonly topics: readonly string[] }
  | 'nothing'
  | readonly string[]
  /** Words separated by commas. */
  | { readonly list: readonly string[] };

/** Keyed by an argument's name (`name`) or a flag (`--for`). */
type CompletesMap = Readonly<Record<string, Completes>>;

/** Facts about a command in addition to commander's. */
export interface About {
  /** Result layout, for `--columns`, `--sort`, help and completion. */
  view?: View<unknown>;
  /** Completions not implied by an argument's or flag's name. */
  completes?: CompletesMap;
  /**
   * Number of arguments before another command, as in `ssh HOST command`. Flags after them belong
   * to that command.
   */
  ownWords?: number;
  /** Details shown below the summary. */
  notes?: string;
  examples?: readonly string[];
  /** The command's own last lines of the help, if any. */
  foot?: string;
  /** Exit codes not implied by the rest of the declaration. */
  ends?: readonly Failure[];
  /** Program whose exit code the command returns: `ssh`. */
  passesOn?: string;
  /** Global flags that the command rejects: `--columns`. */
  refuses?: readonly string[];
  /** Builds the error for an unknown word, with the command to type instead. */
  refusal?: () => CliError;
  /** Whether neither this command nor its subcommands need the service. */
  local?: boolean;
}

/**
 * A command whose flags take optional values only after `=`, as in gh and docker. Both `--wait=ssh
 * NAME` and `--wait NAME` keep NAME as an argument. Commander would use NAME as the value of
 * `--wait`.
 */
class StrictCommand extends Command {
  readonly about: About = {};

  override createCommand(name?: string): Command {
    return new StrictCommand(name);
  }

  /**
   * Throws for a bare `gpucloud instances`: `run.ts` knows the format and decides whether to print
   * help.
   */
  override help(): never {
    throw new BareGroup(this);
  }

  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    const isGroup = this.commands.length > 0;
    const formed = asCommanderReads(args, this.options, { isGroup, ...this.about });
    if (!isGroup) return super.parseOptions(formed);
    const parsed = super.parseOptions(helpLast(formed));
    const [word] = parsed.operands;
    // Rejects `nonsense --help`, for which commander would print the group's help.
    const isKnown = word === undefined || this.commands.some((one) => isNamed(one, word));
    return isKnown ? parsed : { ...parsed, unknown: [] };
  }

  /** Adds a hint for correctly spelled words: commander suggests only similar spellings. */
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
      // Omits the flag's value, since it may be a secret.
      throw usageError(`unknown option '${flag}'`, `did you mean ${meant}?`);
    }
    return super.error(message, how);
  }

  /**
   * Rejects a repeated flag: commander keeps the last value, so `--offer A --offer B` would rent B.
   */
  override setOptionValueWithSource(...[key, value, source]: OptionValue): this {
    const isSecond = source === 'cli' && this.getOptionValueSource(key) === 'cli';
    const option = isSecond
      ? this.options.find((one) => one.attributeName() === key && takesOne(one))
      : undefined;
    if (option !== undefined) throw usageError(`${option.long}: given twice, but takes one value`);
    return super.setOptionValueWithSource(key, value, source);
  }
}

type OptionValue = Parameters<AnyCommand['setOptionValueWithSource']>;

function takesOne({ required, optional, parseArg }: Option): boolean {
  return (required || optional) && !isRepeated(parseArg);
}

/** The command line names a group without a verb. */
export class BareGroup extends Error {
  readonly group: AnyCommand;

  constructor(group: AnyCommand) {
    super(`${pathOf(group)} without a verb`);
    this.group = group;
  }
}

/** Formats an argument as in the help: `<instance>`, `[name]`, `<instance...>`. */
export function argumentTerm(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Returns a command's path: `gpucloud instances`. */
function pathOf(command: AnyCommand): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

export function isNamed(command: AnyCommand, word: string): boolean {
  return command.name() === word || command.aliases().includes(word);
}

/** Treats `--help instances list` as `instances list --help`, and rejects `--help nonsense`. */
export function helpLast(args: readonly string[]): string[] {
  const [first = '', next = '-', ...more] = args;
  const isHelp = (first === '--help' || first === '-h') && !next.startsWith('-');
  return isHelp ? [next, ...more, first] : [...args];
}

/**
 * Writes flags as commander reads them, and leaves everything after `--` or a command's word
 * unchanged:
 *
 * - `-o=json` as `-o json`, as gh, docker and hcloud accept it; commander would keep the `=`;
 * - a bare `--wait` as `--wait=`, so that the next word is not its value;
 * - `--` before the words of another command, after `ownWords` arguments.
 */
function asCommanderReads(
  args: readonly string[],
  options: AnyCommand['options'],
  { isGroup, ownWords = Number.POSITIVE_INFINITY }: { isGroup: boolean; ownWords?: number },
): string[] {
  const formed: string[] = [];
  let isValue = false;
  let words = 0;
  for (const [at, arg] of args.entries()) {
    if (isValue) {
      isValue = false;
      formed.push(arg);
      continue;
    }
    const isWord = !arg.startsWith('-') || (arg === '-' && !isGroup);
    if (isWord) words += 1;
    if (arg === '--' || (isWord && isGroup)) return [...formed, ...args.slice(at)];
    if (words > ownWords) return [...formed, '--', ...args.slice(at)];
    // Skips compiling the regex: most command lines contain no `=`.
    const [, flags = '', value = ''] =
      (arg.includes('=') && /^(-[a-zA-Z]+|--[^=]+)=(.*)$/s.exec(arg)) || [];
    if (flags !== '') refuseValueOfSwitch(flags, options);
    const option = options.find(({ long, short }) => long === arg || short === arg);
    if (!flags.startsWith('--') && takesNext(flags, options)) formed.push(flags, value);
    else if (option?.optional) formed.push(`${option.long}=`);
    else {
      formed.push(arg);
      isValue = takesNext(arg, options);
    }
  }
  return formed;
}

/** Rejects `--yes=no` and `-y=no`: commander would report an unknown option. */
function refuseValueOfSwitch(flags: string, options: AnyCommand['options']): void {
  const name = flags.startsWith('--') ? flags : `-${flags.at(-1) ?? ''}`;
  const option = options.find(({ long, short }) => long === name || short === name);
  if (option !== undefined && !option.required && !option.optional) {
    throw usageError(`${name} takes no value`);
  }
}

/** Whether a flag's value is the next word: `--user root` and `-ti FILE`, not `--user=root`. */
function takesNext(arg: string, options: AnyCommand['options']): boolean {
  if (arg.startsWith('--')) {
    return options.some(({ long, required }) => required && long === arg);
  }
  const letters = arg.startsWith('-') ? [...arg.slice(1)] : [];
  const at = letters.findIndex((letter) =>
    options.some(({ short, required }) => required && short === `-${letter}`),
  );
  // The text after a short flag's letter is its value.
  return at >= 0 && at === letters.length - 1;
}

/** Returns a command's facts in addition to commander's. */
export function about(command: AnyCommand): About {
  if (!(command instanceof StrictCommand)) throw new TypeError('a command of another tree');
  return command.about;
}

/** Whether a command or its group needs no service. */
export function isLocal(command: AnyCommand): boolean {
  return about(command).local === true || (command.parent !== null && isLocal(command.parent));
}

/** Creates a command tree. Commands made with `parent.command()` inherit its settings. */
export function newProgram(name: string): Command {
  return new StrictCommand(name);
}
