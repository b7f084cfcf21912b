import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import type { Failure } from '../errors.ts';
import type { View } from '../output/output.ts';
import {
  type AnyCommand,
  newProgram,
  setCompletes,
  setOwnWords,
  setTold,
  setView,
} from './command.ts';
import type { CompletesMap } from './completes.ts';
import type { Frame } from './frame.ts';
import { addGlobalOptions } from './globals.ts';
import type { Listed, Register, Verb } from './group.ts';
import { argumentTerm } from './help.ts';

export interface VerbHelp {
  /** More to know, printed under the summary. */
  notes?: string;
  /** Whole command lines, at least one. */
  examples: readonly [string, ...string[]];
  /** How the result looks; `--columns` and `--sort` are checked against it before the verb runs. */
  view?: View<unknown>;
  /** Global flags in whose place the verb has one of its own: `--timeout`. */
  replaces?: readonly string[];
  /** What completion offers where the name of an argument or flag does not tell it. */
  completes?: CompletesMap;
  /**
   * After how many arguments everything is words of another command, flags that are called like
   * ours included.
   */
  ownWords?: number;
  /** Ways in which it can end beside those of its kind, for the reference. */
  ends?: readonly Failure[];
  /** The program whose exit code becomes its own, for the reference: `ssh`. */
  passesOn?: string;
  /** Global flags that it refuses in words of its own, for the reference: `--columns`. */
  refuses?: readonly string[];
}

/**
 * Gives a command its help. Arguments, flags and the action follow in commander's own words, so that
 * their types reach the action.
 */
export function describe(command: AnyCommand, help: VerbHelp): Command {
  if (help.notes !== undefined) command.description(`${command.summary()}\n\n${help.notes}`);
  setTold(command, help);
  if (help.ownWords !== undefined) setOwnWords(command, help.ownWords);
  command.addHelpText(
    'after',
    () => `\nExamples:\n${help.examples.map((line) => `  $ ${line}`).join('\n')}`,
  );
  if (help.view !== undefined) {
    setView(command, help.view);
    const { columns } = help.view;
    command.addHelpText(
      'after',
      () => `\nColumns (--columns, --sort):\n  ${columns.map(({ id }) => id).join(', ')}`,
    );
  }
  if (help.completes !== undefined) setCompletes(command, help.completes);
  addGlobalOptions(command, help.replaces);
  // A command of unknown flags, as a group hands it on, has none yet: its types start here.
  return command as unknown as Command;
}

export interface VerbSpec<Args extends unknown[], Flags extends OptionValues> extends VerbHelp {
  /** Adds its arguments and flags, in commander's words, so that their types reach `run`. */
  takes(command: Command): Command<Args, Flags>;
  run(context: Context, ...given: [...Args, Flags, Invocation]): Promise<void>;
}

/** The command line itself, for the few commands that look at it or at the tree of commands. */
export interface Invocation {
  /** All arguments, those that exceed the declared ones included. */
  readonly args: readonly string[];
  readonly frame: Frame;
}

/** Declares what a command takes and does. For a verb in a file of its own, and for verbs of the root. */
export function action<Args extends unknown[], Flags extends OptionValues>(
  spec: VerbSpec<Args, Flags>,
): Register {
  return (command, frame) => {
    spec.takes(describe(command, spec)).action((...given) => {
      const own = given.pop() as unknown as AnyCommand;
      const invocation = { args: own.args, frame };
      return spec.run(frame.context(own), ...(given as unknown as [...Args, Flags]), invocation);
    });
  };
}

/** Declares a verb of a group: how it is listed, what it takes and what it does. */
export function verb<Args extends unknown[], Flags extends OptionValues>(
  name: string,
  { summary, aliases = [], ...spec }: VerbSpec<Args, Flags> & Omit<Listed, 'name'>,
): Verb {
  return {
    name,
    aliases,
    summary,
    get usage() {
      return spec.takes(newProgram(name)).registeredArguments.map(argumentTerm).join(' ');
    },
    load: async () => action(spec),
  };
}
