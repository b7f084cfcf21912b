import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { oneOf, repeated, ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import type { Fault, RequestEntry } from '../../sandbox/index.ts';
import { FAULT_NAMES } from './fault.ts';
import { listeningPort, type StateInput, speed, stateOption } from './flags.ts';
import { type Served, servedView } from './view.ts';

export interface ServeInput extends StateInput {
  /** 0 takes any free port. */
  readonly port: number;
  /** Virtual seconds per second; undefined leaves it as the state has it. */
  readonly speed: number | undefined;
  readonly faults: readonly Fault[];
}

export function registerServe(verb: AnyCommand, frame: Frame): void {
  const faultNamed = oneOf('--fault', FAULT_NAMES);
  describe(verb, {
    completes: { '--fault': FAULT_NAMES },
    notes:
      'Once it listens it prints where, and with which key. Requests are logged on stderr. SIGTERM or Ctrl-C ends it with exit code 0; the state is kept.',
    examples: [
      'gpucloud sandbox serve --port 8080',
      'gpucloud sandbox serve --json --state ./test.json --speed 3600',
      'gpucloud sandbox serve --fault fail-start --fault slow-provisioning',
    ],
  })
    .option(
      '--port <number>',
      'the port to listen on; 0 takes any free one (default: 0)',
      ruled('--port', listeningPort),
    )
    .option(
      '--speed <number>',
      'virtual seconds a second, from now on; 0 stops the clock (default: as it was, 1 at first)',
      ruled('--speed', speed),
    )
    .option(
      '--fault <name...>',
      `a failure to order, see "gpucloud sandbox fault --help": ${FAULT_NAMES.join(', ')}`,
      repeated((name: string, before: Fault[] | undefined) => [
        ...(before ?? []),
        faultNamed(name),
      ]),
    )
    .addOption(stateOption())
    .action(({ port, speed: pace, fault, state }, command) =>
      serve({ port: port ?? 0, speed: pace, faults: fault ?? [], state }, frame.context(command)),
    );
}

/** Serves until the first interrupt of whichever kind: that is how it is meant to end. */
export async function serve(input: ServeInput, context: Context): Promise<void> {
  const sandbox = await context.sandbox(input.state);
  const { url, apiKey, close } = await sandbox.listen({
    port: input.port,
    // A log is asked for in every mode, and notes are for people alone.
    onRequest: (entry) => context.err.debug(logLine(entry, context.clock.now())),
  });
  try {
    // After the port is ours: a command that could not start has changed nothing.
    if (input.speed !== undefined) {
      await sandbox.setSpeed(input.speed);
    }
    for (const fault of input.faults) {
      await sandbox.inject(fault);
    }
    await announce({ url, api_key: apiKey }, context);
    await aborted(context.signal);
  } finally {
    await close();
  }
  context.err.note('The sandbox has ended; its state is kept.');
}

async function announce(served: Served, { out, err }: Context): Promise<void> {
  switch (out.format) {
    case 'json':
      // A program that started this one reads a line, and knows no other end of a document.
      await out.text(`${JSON.stringify(served)}\n`);
      break;
    case 'table':
      err.note('The sandbox listens. Copy these lines into another terminal; Ctrl-C ends it here.');
      await out.text(
        `export GPUCLOUD_BASE_URL=${served.url}\nexport GPUCLOUD_API_KEY=${served.api_key}\n`,
      );
      break;
    default:
      await out.item(served, servedView);
  }
}

function logLine({ method, path, status, milliseconds }: RequestEntry, now: number): string {
  return `${new Date(now).toISOString()} ${method} ${path} ${status} ${milliseconds} ms`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    } else {
      signal.addEventListener('abort', () => resolve(), { once: true });
    }
  });
}
