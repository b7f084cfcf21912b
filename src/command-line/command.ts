import type { Argument, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings';
import { Command, CommanderError, Help, Option } from '@commander-js/extra-typings';
import type { NameKind } from '../completion/values.ts';
import { type CliError, ensureCliError, type Failure, usageError } from '../errors.ts';
import type { View } from '../output/output.ts';
import { shellLine } from '../output/shell-line.ts';
import { foreignFlag, foreignWord, harmless } from './foreign-words.ts';
import { isRepeated, neededBy, refuseComment, refuseSecret } from './parse.ts';

export type AnyCommand = CommandUnknownOpts;
export type { Command, OptionValues };
export { CommanderError, Help, Option };

import type { ToolFacts } from './tool-facts.ts';

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
  /** A flag that takes one value, and the error for several, with the user's own command. */
  several?: {
    readonly flag: string;
    error(values: readonly string[], command: readonly string[]): CliError;
  };
  /** Global flags that the command rejects: `--columns`. */
  refuses?: readonly string[];
  /** Missing if agents can't call the command. */
  tool?: ToolFacts;
  /** Whether neither this command nor its subcommands need the service. */
  local?: boolean;
}

/**
 * A command that reads its words as gh and docker do (see {@link readFlags}), and throws errors
 * that a report can print.
 */
class StrictCommand extends Command {
  readonly about: About = {};
  /** The words up to the user's own command, for the error about too many. */
  private given: readonly string[] = [];
  private userCommand: readonly string[] = [];

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
    const { commands, options, about } = this;
    if (commands.length === 0) {
      const [own, others] = readFlags(args, options, about.ownWords);
      this.given = own;
      this.userCommand = others[0] === '--' ? others.slice(1) : others;
      refuseComment([
        ...own,
        ...(about.ownWords === undefined ? [] : this.userCommand.slice(0, 1)),
      ]);
      const isSplit = others.length === 0 || others[0] === '--';
      return super.parseOptions([...own, ...(isSplit ? [] : ['--']), ...others]);
    }
    const words = helpLast(args, this.parent === null);
    const [flags, more] = readFlags(words, options, 0);
    refuseComment([...flags, ...more.slice(0, 1)]);
    const parsed = super.parseOptions([...flags, ...more]);
    const [word] = parsed.operands;
    // Rejects `nonsense --help`, for which commander would print the group's help.
    const isKnown = word === undefined || commands.some((one) => isNamed(one, word));
    return isKnown ? parsed : { ...parsed, unknown: [] };
  }

  /** Turns commander's message into an error with a hint. Commander suggests similar spellings. */
  override error(message: string, { code }: { code?: string } = {}): never {
    if (code === 'commander.missingArgument') {
      const missing = this.registeredArguments.find(
        ({ required }, at) => required && this.args[at] === undefined,
      );
      throw usageError(`missing argument: ${missing?.name()}`, `usage: ${this.usageLine()}`);
    }
    if (code === 'commander.excessArguments') throw this.tooMany();
    const [words = '', suggestion = ''] = message.replace(/^error: /, '').split('\n(Did ');
    const suggested = suggestion.replace(/^you mean (one of )?|\?\)$/g, '').split(', ');
    if (code === 'commander.unknownCommand') {
      const [path, word = ''] = [pathOf(this), this.args[0]];
      // For a word with dashes commander cuts off the first letters of the names that it suggests.
      const meant = word.startsWith('--') ? [] : harmless(suggested);
      throw (
        foreignWord(this.parent === null ? '' : this.name(), word) ??
        usageError(
          words.replaceAll('\n', ' '),
          didYouMean(meant) ?? `"${path} --help" lists the commands`,
        )
      );
    }
    const flag = /^unknown option '(--?[a-zA-Z_-]+)/.exec(words)?.[1];
    const instead = flag && foreignFlag(pathOf(this).split(' ').slice(1).join(' '), flag);
    if (instead) throw usageError(`unknown option '${flag}'`, instead);
    const begun = flag?.startsWith('--')
      ? this.options.flatMap(({ long }) => (long?.startsWith(flag) ? [long] : []))
      : [];
    if (begun.length > 0) {
      throw usageError(`unknown option '${flag}'`, `did you mean ${begun.join(' or ')}?`);
    }
    // Omits an unknown flag's value, since it may be a secret.
    const what = words.replace(/^(unknown option '[^'=]+)=[^']*'/, "$1'").replaceAll('\n', ' ');
    const help =
      code === 'commander.unknownOption' ? `"${pathOf(this)} --help" lists the options` : undefined;
    throw usageError(what, didYouMean(suggested) ?? help);
  }

  private usageLine(): string {
    return [pathOf(this), ...this.registeredArguments.map(argumentTerm)].join(' ');
  }

  /** Names the first extra word. After a value that it completes, shows the quotes. */
  private tooMany(): CliError {
    const extra = this.args[this.registeredArguments.length] ?? '';
    refuseSecret('the last word', extra);
    const whole = this.quotedWith(extra);
    const usage = this.usageLine();
    const example = this.about.examples?.find((line) => line !== usage);
    return usageError(
      `too many arguments: "${extra}"`,
      whole === undefined
        ? `usage: ${usage}${example === undefined ? '' : `; for example: ${example}`}`
        : `a value with a space needs quotes: ${whole}`,
    );
  }

  /** Joins an extra word to the value before it, if the result is a valid value. */
  private quotedWith(extra: string): string | undefined {
    const at = this.given.indexOf(extra);
    const before = this.given[at - 1] ?? '';
    const [flag = '', value = ''] = before.startsWith('--')
      ? before.split(/=(.*)/s, 2)
      : [this.given[at - 2], before];
    const option = flag.startsWith('-') ? lastOption(flag, this.options) : undefined;
    if (value === '') return undefined;
    const whole = `${value} ${extra}`;
    if (option?.required) return accepts(option, whole) ? shellLine([flag, whole]) : undefined;
    const argument = this.registeredArguments.at(-1);
    const isLast = value === this.args[this.registeredArguments.length - 1];
    return isLast && argument && accepts(argument, whole) ? shellLine([whole]) : undefined;
  }

  /**
   * Rejects a repeated flag: commander keeps the last value, so `--offer A --offer B` would rent B.
   */
  override setOptionValueWithSource(...[key, value, source]: OptionValue): this {
    const isSecond = source === 'cli' && this.getOptionValueSource(key) === 'cli';
    const option = isSecond
      ? this.options.find((one) => one.attributeName() === key && takesOne(one))
      : undefined;
    if (option !== undefined) throw this.givenTwice(`--${option.name()}`);
    return super.setOptionValueWithSource(key, value, source);
  }

  private givenTwice(flag: string): CliError {
    const { several } = this.about;
    if (several?.flag !== flag) return usageError(`${flag}: given twice, but takes one value`);
    const values = this.given.flatMap((word, at) => {
      if (this.given[at - 1] === flag) return [word];
      return word.startsWith(`${flag}=`) ? [word.slice(flag.length + 1)] : [];
    });
    return several.error(values, this.userCommand);
  }
}

/** Whether a flag or argument accepts a value. */
function accepts({ parseArg }: Pick<Option, 'parseArg'>, text: string): boolean {
  try {
    parseArg?.(text, undefined);
    return true;
  } catch (error) {
    ensureCliError(error);
    return false;
  }
}

function didYouMean(words: readonly string[]): string | undefined {
  const meant = words.filter((word) => word !== '');
  if (meant.length === 0) return undefined;
  return `did you mean ${meant.length > 1 ? 'one of ' : ''}${meant.join(', ')}?`;
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

/** Throws a usage error for a typed flag without the flag of its command that it needs. */
export function ensureNeeded(command: AnyCommand): void {
  const isTyped = (one: Option) => command.getOptionValueSource(one.attributeName()) === 'cli';
  for (const option of command.options.filter(isTyped)) {
    const needed = command.options.find(({ long }) => long === neededBy(option.parseArg));
    if (needed && !isTyped(needed)) throw usageError(`${option.long} needs ${needed.long}`);
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

/**
 * Treats `--help instances list` as `instances list --help`, and `instances help list` as well.
 * Rejects `--help nonsense`. At the root, `help` is a command.
 */
export function helpLast(args: readonly string[], isRoot: boolean): string[] {
  const [first = '', next = '-', ...more] = args;
  if (first === 'help' && !isRoot) return [...args.slice(1), '--help'];
  const isHelp = (first === '--help' || first === '-h') && !next.startsWith('-');
  return isHelp ? [next, ...more, first] : [...args];
}

/**
 * Reads flags and some words, up to `--`. Returns them as commander reads them, and the rest:
 *
 * - `-o=json` as `-o json`, as gh, docker and hcloud accept it; commander would keep the `=`;
 * - a bare `--wait` as `--wait=`, since an optional value comes only after `=`, as in gh and docker.
 *   Commander would use NAME of `--wait NAME` as the value.
 */
export function readFlags(
  args: readonly string[],
  options: Options,
  words = Number.POSITIVE_INFINITY,
): [read: string[], rest: string[]] {
  const read: string[] = [];
  let left = words;
  let at = 0;
  for (; at < args.length && args[at] !== '--'; at += 1) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-') || arg === '-') {
      if (left === 0) break;
      left -= 1;
      read.push(arg);
      continue;
    }
    const [flag = '', value] = arg.includes('=') ? arg.split(/=(.*)/s, 2) : [arg];
    const option = lastOption(flag, options);
    if (value !== undefined) {
      refuseValueOfSwitch(flag, option);
      read.push(...(option === undefined || flag.startsWith('--') ? [arg] : [flag, value]));
    } else if (option?.optional) {
      read.push(`${option.long}=`);
    } else {
      read.push(arg);
      if (option?.required && at + 1 < args.length) {
        at += 1;
        read.push(args[at] ?? '');
      }
    }
  }
  return [read, args.slice(at)];
}

type Options = AnyCommand['options'];

/** Rejects `--yes=no` and `-y=no`: commander would report an unknown option. */
function refuseValueOfSwitch(flag: string, option: Option | undefined): void {
  if (option !== undefined && !option.required && !option.optional) {
    throw usageError(`${flag.startsWith('--') ? flag : option.short} takes no value`);
  }
}

/** Returns the option to which a value would belong: `-f` of `-tif`, none of `-ojson`. */
export function lastOption(flag: string, options: Options): Option | undefined {
  const names = flag.startsWith('--') ? [flag] : [...flag.slice(1)].map((one) => `-${one}`);
  const named = names.map((name) =>
    options.find(({ long, short }) => long === name || short === name),
  );
  // The text after the letter of a flag with a value is that value.
  return named.slice(0, -1).some((one) => one?.required) ? undefined : named.at(-1);
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
