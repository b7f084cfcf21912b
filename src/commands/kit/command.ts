import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { Command, CommanderError, Help, Option } from '@commander-js/extra-typings';
import type { Failure } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import type { CompletesMap } from './completes.ts';

export type AnyCommand = CommandUnknownOpts;
export { CommanderError, Help, Option };

/**
 * A command whose optional values are taken after `=` alone: `--wait=ssh NAME` and `--wait NAME`
 * both leave NAME alone, as in gh and docker. Commander would take NAME as the value of `--wait`.
 */
class StrictCommand extends Command {
  /** How the result of the verb looks: its columns are known before anything is asked. */
  view: View<unknown> | undefined;
  /** What its arguments and flags are completed with, beyond what their names tell. */
  completes: CompletesMap | undefined;
  /** What its help says beside its arguments and flags. */
  told: Told | undefined;
  /** It needs no service. Counts for what is below it too. */
  local = false;

  override createCommand(name?: string): Command {
    return new StrictCommand(name);
  }

  /** A bare `gpucloud instances` asks for help and gets it on stdout, as with gh and docker. */
  override help(): never {
    return super.help();
  }

  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    return super.parseOptions(closeOptionalValues(args, this.options));
  }
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

/** Tells a verb how its result looks, for `--columns`, `--sort`, help and completion. */
export function setView(command: AnyCommand, view: View<unknown>): void {
  if (command instanceof StrictCommand) command.view = view;
}

export function viewOf(command: AnyCommand): View<unknown> | undefined {
  return command instanceof StrictCommand ? command.view : undefined;
}

/** Tells completion what an argument or flag takes; see completes.ts. */
export function setCompletes(command: AnyCommand, completes: CompletesMap): void {
  if (command instanceof StrictCommand) command.completes = completes;
}

export function completesOf(command: AnyCommand): CompletesMap | undefined {
  return command instanceof StrictCommand ? command.completes : undefined;
}

/** What the reference says of a verb, as it is and not as the help shows it. */
export interface Told {
  readonly notes?: string;
  readonly examples: readonly string[];
  /** Ways in which it can end that nothing else about it tells. */
  readonly ends?: readonly Failure[];
}

export function setTold(command: AnyCommand, told: Told): void {
  if (command instanceof StrictCommand) command.told = told;
}

export function toldOf(command: AnyCommand): Told | undefined {
  return command instanceof StrictCommand ? command.told : undefined;
}

/** Says of a verb, or of a group with all its verbs, that it needs no service. */
export function setLocal(command: AnyCommand): void {
  if (command instanceof StrictCommand) command.local = true;
}

export function isLocal(command: AnyCommand): boolean {
  for (let at: AnyCommand | null = command; at !== null; at = at.parent) {
    if (at instanceof StrictCommand && at.local) return true;
  }
  return false;
}

/** The root of a new tree. Every command below it is made with `parent.command()` and inherits. */
export function newProgram(name: string): Command {
  return new StrictCommand(name);
}
