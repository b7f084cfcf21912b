import { oneOf, repeated, ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import type { ServedSandbox } from '../../json-results/local.ts';
import { gpucloud } from '../../output/shell-line.ts';
import type { Fault, RequestEntry } from '../../sandbox/index.ts';
import { FAULT_NAMES, listeningPort, speed, stateOption } from './flags.ts';
import { servedView } from './view.ts';

const faultNamed = oneOf('--fault', FAULT_NAMES);

/** Serves until the first interrupt, which is not an error. */
export const serve = verb({
  summary: 'Serve the sandbox over HTTP on 127.0.0.1',
  notes:
    'Prints the base URL and key when ready, and logs requests to stderr. Exits with 0 on Ctrl-C or ' +
    'SIGTERM. Keeps the state.\n\n' +
    'Instances of the sandbox respond on 127.0.0.1. Each has its own SSH port, which accepts only ' +
    "the instance's keys. Web links open a page. Commands on instances run on this computer with " +
    'your permissions.',
  examples: [
    'gpucloud sandbox serve --port 8080',
    'gpucloud sandbox serve --json --state ./test.json --speed 3600',
    'gpucloud sandbox serve --fault fail-start --fault slow-provisioning',
  ],
  completes: { '--fault': FAULT_NAMES },
  takes: (command) =>
    command
      .option(
        '--port <number>',
        'port to listen on; 0 selects a free port (default: 0)',
        ruled('--port', listeningPort),
      )
      .option(
        '--speed <number>',
        'virtual seconds per second; 0 stops the clock (default: unchanged)',
        ruled('--speed', speed),
      )
      .option(
        '--fault <name...>',
        `failure to cause (repeatable): ${FAULT_NAMES.join(', ')}`,
        repeated((name: string, before: Fault[] = []) => [...before, faultNamed(name)]),
      )
      .addOption(stateOption()),
  run: async (context, { port = 0, speed: pace, fault: faults = [], state }) => {
    const { err, clock, signal, env, host } = context;
    const { platform } = host;
    const sandbox = await context.sandbox(state);
    const onFault = (message: string) => err.warn('connection', message);
    const { url, apiKey, close } = await sandbox.listen({
      port,
      // Prints the requested log in every mode, unlike notes, which are only for people.
      onRequest: (entry) => err.debug(logLine(entry, clock.now())),
      ...(platform === 'win32' ? {} : { ssh: { env, platform, signal, onFault } }),
    });
    try {
      // Sets speed and faults after opening the port: a command that can't start must change
      // nothing.
      if (pace !== undefined) await sandbox.setSpeed(pace);
      for (const fault of faults) await sandbox.inject(fault);
      await announce({ url, api_key: apiKey }, context);
      await aborted(signal);
    } finally {
      await close();
    }
    err.note('Stopped the sandbox. Its state is saved.');
  },
});

async function announce(served: ServedSandbox, { out, err }: Context): Promise<void> {
  switch (out.format) {
    case 'json':
      // Prints one line, so that a script can read it without waiting for the end of stdout.
      return out.text(`${JSON.stringify(served)}\n`);
    case 'table':
      err.note(
        'The sandbox is running. Copy these lines into another terminal; press Ctrl-C here to stop.',
      );
      err.note('Commands on sandbox instances run on this computer with your permissions.');
      err.note(`Offer and image IDs: ${gpucloud('sandbox', 'catalog', '-o', 'csv')}`);
      return out.text(
        `export GPUCLOUD_BASE_URL=${served.url}\nexport GPUCLOUD_API_KEY=${served.api_key}\n`,
      );
    default:
      return out.item(served, servedView);
  }
}

function logLine({ method, path, status, milliseconds }: RequestEntry, now: number): string {
  return `${new Date(now).toISOString()} ${method} ${path} ${status} ${milliseconds} ms`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
