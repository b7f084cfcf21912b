import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { createSink } from '../output/sink.ts';

/** The targets of the command's output: our own stdout and stderr, byte for byte. */
export interface JobOutput {
  print(from: 'out' | 'err', bytes: Uint8Array): Promise<void>;
  /** Why the rest could not be written. The command still runs. */
  readonly lost: CliError | undefined;
}

/** `stop` ends the wait for a reader that takes nothing. */
export function createJobOutput({ host }: Context, stop: AbortSignal): JobOutput {
  const sinks = {
    out: createSink(() => host.stdout, { stop }),
    err: createSink(() => host.stderr, { stop }),
  };
  let lost: CliError | undefined;
  return {
    async print(from, bytes) {
      try {
        await sinks[from].write(bytes);
      } catch (error) {
        if (!(error instanceof CliError) || stop.aborted) throw error;
        lost ??= error;
      }
    },
    get lost() {
      return lost;
    },
  };
}

/** Prints a line of JSON to stderr, as every message of the run itself. */
export async function printJson(value: unknown, { host }: Context): Promise<void> {
  await createSink(() => host.stderr).write(`${JSON.stringify(value)}\n`);
}
