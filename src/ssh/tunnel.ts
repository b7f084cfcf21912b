import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { typedName } from '../rules/names.ts';
import { type Reached, reach } from './reach.ts';
import { troubleText } from './run-ssh.ts';
import { type Forwarding, tunnelArgv } from './ssh-argv.ts';
import { notStarted, startSsh, troubleIn } from './ssh-process.ts';

/** Milliseconds to keep trying to reconnect. */
const GIVE_UP_AFTER = 10 * 60_000;

/** The pause between two attempts in milliseconds; doubles from the first to the second value. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [1_000, 30_000];

interface HowToHold {
  readonly reconnect: boolean;
  /** Prints the tunnel's address once the tunnel is open. If this throws, the tunnel closes. */
  opened(): Promise<void>;
}

/**
 * Keeps a tunnel open until the first interrupt, which is not an error.
 *
 * After a lost connection, reads the instance again, since its address may have changed, and
 * reconnects. A fault that needs a person (a new host key, a refused key, a stopped instance)
 * closes the tunnel at once.
 */
export async function holdTunnel(
  ports: Forwarding,
  first: Reached,
  how: HowToHold,
  context: Context,
): Promise<void> {
  const { clock, signal, err } = context;
  const { name } = first.target;
  let reached = first;
  let lastOpen: number | undefined;
  let pause = FIRST_PAUSE;
  for (;;) {
    const isFirst = lastOpen === undefined;
    const opened = isFirst
      ? how.opened
      : async () => err.note(`The tunnel to ${name} is open again.`);
    const held = await holdOnce(ports, reached, opened, context);
    if (held.opened) {
      lastOpen = clock.monotonic();
      pause = FIRST_PAUSE;
    }
    if (signal.aborted) {
      // An interrupt before the tunnel was open is an error.
      if (lastOpen === undefined) throw signal.reason;
      break;
    }
    const trouble = troubleIn(held.output);
    const isHopeless = trouble === 'hostKey' || trouble === 'keys' || !how.reconnect;
    if (lastOpen === undefined || isHopeless || clock.monotonic() - lastOpen > GIVE_UP_AFTER) {
      throw failed(held, reached, context);
    }
    if (held.opened) err.warn('retrying', `Lost the connection to ${name}; reconnecting.`);
    try {
      await clock.sleep(pause, signal);
    } catch {
      // An interrupt.
      break;
    }
    pause = Math.min(pause * 2, LONGEST_PAUSE);
    reached = (await readAgain(first, context)) ?? reached;
  }
  err.note('Closed the tunnel.');
}

interface Held {
  readonly code: number;
  /** ssh's last output. */
  readonly output: string;
  /** Whether the tunnel was ever open. */
  readonly opened: boolean;
}

async function holdOnce(
  ports: Forwarding,
  { target, endpoint, ssh }: Reached,
  whenOpen: () => Promise<void>,
  context: Context,
): Promise<Held> {
  let opening: Promise<void> | undefined;
  const printed = new Set<string>();
  // Holds back ssh's lines until the tunnel is open. If it never opens, the last line becomes the
  // reason in the error.
  const waiting: string[] = [];
  const print = (line: string) => {
    const text = explained(line, target.name, ports.remote);
    // Prints each text once: a browser's retries would repeat it.
    if (!printed.has(text)) context.err.note(text);
    printed.add(text);
  };
  const child = await startSsh(
    tunnelArgv(endpoint, ssh, ports),
    (program) => context.start(program),
    {
      open() {
        for (const line of waiting.splice(0)) print(line);
        opening = whenOpen();
        opening.catch(() => child.close());
      },
      say(line) {
        // After an interrupt, ssh's output only reports that ssh was stopped. It may arrive first.
        if (context.signal.aborted || /^Killed by signal \d+\.\s*$/.test(line)) return;
        if (opening === undefined) waiting.push(line);
        else print(line);
      },
      log(line) {
        if (context.flags.debug === true) context.err.debug(line);
      },
    },
  );
  try {
    const outcome = await child.ended;
    for (const line of waiting.slice(0, -1)) print(line);
    return { ...outcome, opened: opening !== undefined };
  } catch (error) {
    throw notStarted('ssh', error);
  } finally {
    await opening;
  }
}

/**
 * Adds the port and the next step, since ssh's message about a port without a listener lacks them.
 */
function explained(line: string, name: string, port: number): string {
  const [, failure, reason = ''] =
    /^channel \d+: open failed: ([^:]+?)(?:: *(.*))?$/.exec(line) ?? [];
  if (failure !== 'connect failed') return line;
  const why = reason === '' ? '' : ` (${reason})`;
  return `Nothing listens on port ${port} of ${name}${why}. Start a program on that port.`;
}

/** Returns undefined if the service is unreachable too; the tunnel then tries the old endpoint. */
async function readAgain({ target, how }: Reached, context: Context): Promise<Reached | undefined> {
  try {
    return await reach(target.id, { ...how, wait: undefined }, context);
  } catch (error) {
    const passes = error instanceof CliError && error.retryable;
    if (passes || context.signal.aborted) return undefined;
    throw error;
  }
}

function failed({ code, output, opened }: Held, reached: Reached, context: Context): CliError {
  const { id, name } = reached.target;
  const trouble = troubleIn(output);
  const last = output.trim().split('\n').at(-1)?.trim();
  const what = opened ? 'Lost the tunnel' : 'Could not open the tunnel';
  return new CliError('refused', `${what}: ${last || `ssh exited with ${code}`}`, {
    resource: id,
    retryable: trouble === 'unreachable',
    hint:
      trouble === undefined
        ? `try to connect: ${gpucloud('instances', 'ssh', typedName(name, id))}`
        : troubleText(trouble, reached, context),
  });
}
