import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { scpArgv } from '../../reach/argv.ts';
import { commandView, printCommand } from '../../reach/print-command.ts';
import { type ReachInput, reachInput, reachOptions } from '../../reach/reach-flags.ts';
import { pollIntervalOption, waitTimeoutOption } from '../../watch/flags.ts';

export function registerScp(verb: AnyCommand, frame: Frame): void {
  const { user, port, identity, sshOption, sshArg } = reachOptions();
  describe(verb, {
    notes:
      "A path on the machine is written INSTANCE:PATH, from the user's home there unless it begins\n" +
      'with a slash. The last path is where the others go. A file here whose name has a colon is\n' +
      'written with a slash before it: ./a:b. On the machine * and ? stand for names, as in a shell.',
    view: commandView((words) => words.join(' ')),
    examples: [
      'gpucloud instances scp train.py trainer:',
      'gpucloud instances scp -r trainer:/workspace/results ./results',
      "gpucloud instances scp 'trainer:checkpoints/*.pt' trainer:log.txt .",
    ],
    completes: { path: 'path', '--user': 'nothing' },
    passesOn: 'scp',
  })
    .argument('<path...>', 'paths here, or INSTANCE:PATH; the last is the target')
    .option('-r, --recursive', 'folders with all that is in them')
    .option('-p, --preserve', 'keep times and modes')
    .addOption(identity)
    .addOption(user)
    .addOption(port)
    .addOption(sshOption)
    .addOption(sshArg)
    .option('--wait', 'wait until the machine answers, however new it is')
    .addOption(waitTimeoutOption())
    .addOption(pollIntervalOption())
    .option('--print', 'print the command that would be run, and run nothing')
    .action((paths, flags, place) =>
      scp(
        {
          paths,
          recursive: flags.recursive === true,
          preserve: flags.preserve === true,
          print: flags.print === true,
          ...reachInput(flags),
        },
        frame.context(place),
      ),
    );
}

export interface ScpInput extends ReachInput {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  readonly preserve: boolean;
  readonly print: boolean;
}

export async function scp(input: ScpInput, context: Context): Promise<void> {
  const { instance, ...copying } = journeyOf(input.paths, context.host.platform);
  const [{ reach }, { runProgram }] = await Promise.all([
    import('../../reach/reach.ts'),
    import('../../reach/program.ts'),
  ]);
  const reached = await reach(instance, input, context);
  const argv = scpArgv(reached.way, reached.manner, {
    ...copying,
    recursive: input.recursive,
    preserve: input.preserve,
  });
  await (input.print ? printCommand(argv, context) : runProgram(argv, reached, context));
}

/** From where to where is copied. */
export interface Journey {
  readonly instance: string;
  readonly sources: readonly string[];
  readonly target: string;
  readonly from: 'here' | 'machine';
}

/** Throws a usage error where the paths do not lead from here to one machine or back. */
export function journeyOf(paths: readonly string[], platform: string): Journey {
  const places = paths.map((path) => placeOf(path, platform));
  const target = places.at(-1);
  const sources = places.slice(0, -1);
  const [first] = sources;
  if (target === undefined || first === undefined) {
    throw usageError(
      `PATH "${paths.join(' ')}": at least two paths are needed, from where and to where`,
    );
  }
  const machines = [...new Set(sources.map(({ instance }) => instance))];
  if (target.instance !== undefined) {
    if (machines.some((instance) => instance !== undefined)) {
      throw usageError(
        `PATH "${paths.join(' ')}": what is copied to a machine comes from here, not from a machine`,
        'copy it here first, or log in and copy there: gpucloud instances ssh NAME',
      );
    }
    return {
      instance: target.instance,
      sources: sources.map(({ path }) => path),
      target: target.path,
      from: 'here',
    };
  }
  if (machines.length > 1) {
    throw usageError(
      `PATH "${paths.join(' ')}": the sources are in several places; one machine is copied from at a time`,
    );
  }
  if (first.instance === undefined) {
    throw usageError(
      `PATH "${paths.join(' ')}": none of these is on a machine, which is written INSTANCE:PATH`,
    );
  }
  return {
    instance: first.instance,
    sources: sources.map(({ path }) => path),
    target: target.path,
    from: 'machine',
  };
}

interface Place {
  /** undefined: on this computer. */
  readonly instance: string | undefined;
  readonly path: string;
}

/** As scp reads it: a machine stands before a colon that comes before any slash. */
function placeOf(text: string, platform: string): Place {
  const [, instance, path] = /^([^:/\\]+):(.*)$/s.exec(text) ?? [];
  const isDrive = platform === 'win32' && /^[A-Za-z]:/.test(text);
  if (instance === undefined || path === undefined || isDrive) {
    if (text === '') throw usageError('PATH "": a path here is not empty');
    return { instance: undefined, path: text };
  }
  if (instance.includes('@')) {
    throw usageError(`PATH "${text}": the user is not part of it`, 'name the user with --user');
  }
  return { instance, path };
}
