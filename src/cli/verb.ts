import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import type { About } from './command.ts';
import { type AnyCommand, about, argumentTerm, newProgram } from './command.ts';
import { addGlobalOptions } from './globals.ts';
import type { Listed, Register, Runtime, Verb } from './group.ts';

interface VerbHelp extends Omit<About, 'refusal' | 'local'> {
  /** Whole command lines, at least one. */
  examples: readonly [string, ...string[]];
}

/**
 * Gives a command its help. Arguments, flags and the action follow in commander's own words, so that
 * their types reach the action.
 */
function withHelp(command: AnyCommand, help: VerbHelp): Command {
  Object.assign(about(command), help);
  if (help.notes !== undefined) command.description(`${command.summary()}\n\n${help.notes}`);
  addGlobalOptions(command);
  // A command of unknown flags, as a group hands it on, has none yet: its types start here.
  return command as unknown as Command;
}

interface VerbSpec<Args extends unknown[], Flags extends OptionValues> extends VerbHelp {
  /** Adds its arguments and flags, in commander's words, so that their types reach `run`. */
  takes(command: Command): Command<Args, Flags>;
  run(context: Context, ...given: [...Args, Flags, Invocation]): Promise<void>;
}

/** The command line itself, for the few commands that look at it or at the tree of commands. */
interface Invocation {
  /** All arguments, those that exceed the declared ones included. */
  readonly args: readonly string[];
  readonly runtime: Runtime;
}

/** Declares what a command takes and does. For a verb in a file of its own, and for verbs of the root. */
export function action<Args extends unknown[], Flags extends OptionValues>(
  spec: VerbSpec<Args, Flags>,
): Register {
  const { takes, run, ...help } = spec;
  return (command, runtime) => {
    takes(withHelp(command, help)).action((...given) => {
      const own = given.pop() as unknown as AnyCommand;
      const invocation = { args: own.args, runtime };
      return run(runtime.context(own), ...(given as unknown as [...Args, Flags]), invocation);
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
