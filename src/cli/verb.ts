import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { type About, type AnyCommand, about, argumentTerm, newProgram } from './command.ts';
import { addGlobalOptions } from './globals.ts';
import type { Listed, Register, Runtime, Verb } from './group.ts';

interface VerbHelp extends Omit<About, 'refusal' | 'local'> {
  /** Full command lines, at least one. */
  examples: readonly [string, ...string[]];
}

interface VerbSpec<Args extends unknown[], Flags extends OptionValues> extends VerbHelp {
  /** Adds arguments and flags with commander's own methods, so that their types reach `run`. */
  takes(command: Command): Command<Args, Flags>;
  run(context: Context, ...given: [...Args, Flags, Invocation]): Promise<void>;
}

/** Parsed command, for verbs that inspect it or the tree. */
interface Invocation {
  /** All arguments, including extra ones. */
  readonly args: readonly string[];
  readonly runtime: Runtime;
}

/** Declares a command's input and action, for verbs of the root and verbs with their own file. */
export function action<Args extends unknown[], Flags extends OptionValues>(
  spec: VerbSpec<Args, Flags>,
): Register {
  const { takes, run, ...help } = spec;
  return (command, runtime) => {
    Object.assign(about(command), help);
    if (help.notes !== undefined) command.description(`${command.summary()}\n\n${help.notes}`);
    addGlobalOptions(command);
    // Groups pass commands with untyped flags, so this cast types them.
    takes(command as unknown as Command).action((...given) => {
      const own = given.pop() as unknown as AnyCommand;
      const invocation = { args: own.args, runtime };
      return run(runtime.context(own), ...(given as unknown as [...Args, Flags]), invocation);
    });
  };
}

/** Declares a verb of a group: its listing, arguments and action. */
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
