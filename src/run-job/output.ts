import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { createSink } from '../output/sink.ts';

/** Where the command's outputs go: our own stdout and stderr, byte for byte. */
export interface JobOutput {
  print(from: 'out' | 'err', bytes: Uint8Array): Promise<void>;
  /** Why the rest could not be written. The command goes on without it. */
  readonly lost: CliError | undefined;
}

/** `stop` ends the wait for a reader who takes nothing. */
export function createJobOutput({ host }: Context, stop: AbortSignal): JobOutput {
  const sinks = {
    out: createSink(() => host.stdout, { stop }),
    err: createSink(() => host.stderr, { stop }),
  };
  let lost: CliError | undefined;
  return {
    async print(from, bytes) {
      if (lost !== undefined) return;
      try {
        await sinks[from].write(bytes);
      } catch (error) {
        if (!(error instanceof CliError) || stop.aborted) throw error;
        lost = error;
      }
    },
    get lost() {
      return lost;
    },
  };
}

/** Prints a line of JSON to stderr, where a run prints what is its own. */
export async function printJson(value: unknown, { host }: Context): Promise<void> {
  await createSink(() => host.stderr).write(`${JSON.stringify(value)}\n`);
}
