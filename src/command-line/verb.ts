import type { Argument, Command, OptionValues } from '@commander-js/extra-typings';
import type { Context, Host } from '../context.ts';
import { type About, type AnyCommand, about, ensureNeeded, newProgram } from './command.ts';
import { addGlobalOptions } from './globals.ts';

/** The framework's functions for every command. */
export interface Runtime {
  /** Reads a command's global flags. Called once per run. */
  context(command: AnyCommand): Context;
  /** Builds a second tree, with every verb. Its help has the same output. */
  wholeTree(): AnyCommand;
  readonly rerun: Rerun;
  /** Returns an error as `--json` prints it. */
  report(error: unknown): string;
}

/**
 * Runs another command line as if typed and returns its exit code. Uses the same host except for
 * `changes`. For commands that run other commands: the tour and `mcp`.
 */
export type Rerun = (argv: readonly string[], changes: Partial<Host>) => Promise<number>;

/** How a command's parent lists it. Its name is its key in the parent. */
export interface Listed {
  /** Other names: `ls`, `rm`. */
  readonly aliases?: readonly string[];
  /** One line without a full stop. */
  readonly summary: string;
  /** Only programs call this command, so no help, reference or completion lists it. */
  readonly isHidden?: boolean;
  /** Needs neither the service nor a key. */
  readonly local?: boolean;
}

export interface Verb extends Listed {
  /** Returns its arguments, for the help of its group. */
  args(): readonly Argument[];
  /** Adds its arguments, flags and action to a command. */
  addTo(command: AnyCommand, runtime: Runtime): void;
}

interface VerbSpec<Args extends unknown[], Flags extends OptionValues>
  extends Listed,
    Omit<About, 'refusal' | 'local'> {
  /** Full command lines, at least one. */
  examples: readonly [string, ...string[]];
  /** Adds arguments and flags with commander's own methods, so that their types reach `run`. */
  takes(command: Command): Command<Args, Flags>;
  /** Set if `run` calls `ensureNeeded`, since other flags can have the effect of a missing one. */
  ensuresNeeded?: true;
  run(context: Context, ...given: [...Args, Flags, Invocation]): Promise<void>;
}

/** Parsed command, for verbs that inspect it or the tree. */
interface Invocation {
  /** All arguments, including extra ones. */
  readonly args: readonly string[];
  readonly runtime: Runtime;
  /** Throws a usage error for a typed flag without the flag that it needs. */
  ensureNeeded(): void;
}

/** Declares a verb: its line in the help, its own help, its arguments, flags and action. */
export function verb<Args extends unknown[], Flags extends OptionValues>(
  spec: VerbSpec<Args, Flags>,
): Verb {
  const { takes, run, ensuresNeeded, aliases, summary, isHidden, local, ...help } = spec;
  return {
    ...spec,
    args: () => takes(newProgram('')).registeredArguments,
    addTo(command, runtime) {
      Object.assign(about(command), help);
      if (help.notes !== undefined) command.description(`${summary}\n\n${help.notes}`);
      addGlobalOptions(command);
      // The tree holds commands with untyped flags, so this cast types them.
      takes(command as unknown as Command).action((...given) => {
        // The last one is the command itself.
        const typed = given.slice(0, -1) as unknown as [...Args, Flags];
        const ensure = () => ensureNeeded(command);
        if (ensuresNeeded !== true) ensure();
        const invocation = { args: command.args, runtime, ensureNeeded: ensure };
        return run(runtime.context(command), ...typed, invocation);
      });
    },
  };
}
