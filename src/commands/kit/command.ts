import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { Command, CommanderError, Help, Option } from '@commander-js/extra-typings';

export type AnyCommand = CommandUnknownOpts;
export { CommanderError, Help, Option };

/**
 * A command whose optional values are taken after `=` alone: `--wait=ssh NAME` and `--wait NAME`
 * both leave NAME alone, as in gh and docker. Commander would take NAME as the value of `--wait`.
 */
class StrictCommand extends Command {
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

/** The root of a new tree. Every command below it is made with `parent.command()` and inherits. */
export function newProgram(name: string): Command {
  return new StrictCommand(name);
}
