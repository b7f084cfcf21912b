import { type Tunnel, tunnelView } from '../commands/instances/tunnel-view.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { mask } from '../output/index.ts';
import { tunnelArgv } from './argv.ts';
import { openInBrowser } from './browser.ts';
import { openForward } from './forward.ts';
import { notStarted, troubleWords } from './program.ts';
import { callable, type Reached, reach } from './reach.ts';
import type { ReachInput } from './reach-flags.ts';
import { type Trouble, troubleIn } from './trouble.ts';

/** Milliseconds for which a lost tunnel is tried again before it is given up. */
const PATIENCE = 10 * 60_000;

/** Milliseconds between two tries: twice as long each time, up to this. */
const LONGEST_PAUSE = 30_000;

export interface HoldInput extends ReachInput {
  readonly open: boolean;
  readonly reconnect: boolean;
}

/**
 * Holds a tunnel until the first interrupt of whichever kind: that is how it is meant to end.
 *
 * A connection that is lost once it was open is made again, with the machine read afresh, since its
 * address may be another one. What a person alone can mend (another host key, a key that is not
 * taken, a stopped machine) ends it at once.
 */
export async function holdTunnel(
  tunnel: Tunnel,
  first: Reached,
  input: HoldInput,
  context: Context,
): Promise<void> {
  let reached = first;
  let lostAt: number | undefined;
  let tries = 0;
  for (;;) {
    const { code, said, opened } = await holdOnce(
      tunnel,
      reached,
      lostAt === undefined,
      input,
      context,
    );
    if (context.signal.aborted) {
      // Whoever leaves before there was a tunnel has not got what was asked for.
      if (!opened && lostAt === undefined) throw context.signal.reason;
      context.err.note('The tunnel is closed.');
      return;
    }
    if (opened) {
      lostAt = context.clock.now();
      tries = 0;
    }
    const trouble = troubleIn(said);
    const isHopeless = trouble === 'hostKey' || trouble === 'keys';
    const isLate = lostAt !== undefined && context.clock.now() - lostAt > PATIENCE;
    if (lostAt === undefined || isHopeless || isLate || !input.reconnect) {
      throw failed({ code, said, trouble, opened }, tunnel, reached, context);
    }
    if (opened) {
      context.err.warn(`The connection to ${tunnel.name} was lost; it is made again.`);
    }
    if (!(await pause(Math.min(1_000 * 2 ** tries, LONGEST_PAUSE), context))) {
      context.err.note('The tunnel is closed.');
      return;
    }
    tries += 1;
    reached = (await readAgain(tunnel, input, context)) ?? reached;
  }
}

interface Held {
  readonly code: number;
  readonly said: string;
  /** Whether it was open at any time. */
  readonly opened: boolean;
}

async function holdOnce(
  tunnel: Tunnel,
  { way, manner }: Reached,
  isFirst: boolean,
  input: HoldInput,
  context: Context,
): Promise<Held> {
  let opened = false;
  let told: Promise<void> | undefined;
  const words = new Set<string>();
  // Until it is open: the last line is the reason where it never opens, and is told as such.
  const held: string[] = [];
  const say = (line: string) => {
    const text = sayable(line, tunnel);
    // A browser tries again and again.
    if (!words.has(text)) context.err.note(text);
    words.add(text);
  };
  const argv = tunnelArgv(way, manner, { local: tunnel.local_port, remote: tunnel.remote_port });
  const forward = await openForward(argv, (program) => context.start(program), {
    open() {
      opened = true;
      for (const line of held.splice(0)) say(line);
      if (!isFirst) context.err.note(`The tunnel to ${tunnel.name} is open again.`);
      else told = tell(tunnel, input, context);
      // A result that can't be written ends it; why is thrown below.
      told?.catch(() => forward.close());
    },
    say(line) {
      // What ssh says of its end is no news to whoever ended it.
      if (context.signal.aborted) return;
      if (opened) say(line);
      else held.push(line);
    },
    log(line) {
      if (context.flags.debug === true) context.err.debug(line);
    },
  });
  try {
    const outcome = await forward.ended;
    for (const line of held.slice(0, -1)) say(line);
    return { ...outcome, opened };
  } catch (error) {
    throw notStarted('ssh', error);
  } finally {
    await told;
  }
}

/** ssh's words for a port on which nothing listens say neither where nor what to do. */
function sayable(line: string, { name, remote_port: port }: Tunnel): string {
  const [, reason] = /^channel \d+: open failed: (.+)$/.exec(line) ?? [];
  return reason === undefined
    ? line
    : `Nothing can be reached at port ${port} of ${name} (${reason}): start the program there.`;
}

async function tell(tunnel: Tunnel, { open }: HoldInput, context: Context): Promise<void> {
  const { out, err, flags } = context;
  const shown = mask(tunnel, ['secrets'], flags.showSecrets === true);
  switch (out.format) {
    case 'json':
      if (flags.query !== undefined || flags.columns !== undefined) {
        await out.item(tunnel, tunnelView);
        break;
      }
      // A program that started this one reads a line, and knows no other end of a document.
      await out.text(`${JSON.stringify(tunnelView.json?.(shown))}\n`);
      break;
    case 'table':
      err.note(
        `Port ${tunnel.remote_port} of ${tunnel.name} is here until Ctrl-C${tunnel.url === null ? '' : ', as a link'}:`,
      );
      await out.value(shown.url ?? shown.address);
      break;
    default:
      await out.item(tunnel, tunnelView);
  }
  if (open) {
    // A browser that does not come is no reason to close what is open.
    openInBrowser(tunnel.url ?? `http://${tunnel.address}/`, context).catch((error: unknown) => {
      if (!context.signal.aborted) {
        err.warn(error instanceof Error ? error.message : 'The browser could not be started.');
      }
    });
  }
}

/** Whether the time has passed; false for an interrupt. */
async function pause(milliseconds: number, { clock, signal }: Context): Promise<boolean> {
  try {
    await clock.sleep(milliseconds, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** undefined where the service can't be reached either: then the way is taken for the old one. */
async function readAgain(
  { instance_id: id }: Tunnel,
  input: ReachInput,
  context: Context,
): Promise<Reached | undefined> {
  try {
    return await reach(id, { ...input, wait: undefined }, context);
  } catch (error) {
    const passes =
      error instanceof CliError && (error.failure === 'unreachable' || error.retryable);
    if (passes || context.signal.aborted) return undefined;
    throw error;
  }
}

function failed(
  { code, said, trouble, opened }: Held & { readonly trouble: Trouble | undefined },
  tunnel: Tunnel,
  reached: Reached,
  context: Context,
): CliError {
  const last = said.trim().split('\n').at(-1)?.trim();
  const what = opened ? 'The tunnel was lost' : 'The tunnel could not be opened';
  const hint =
    trouble === undefined
      ? `try it by hand: gpucloud instances ssh ${callable(tunnel.name, tunnel.instance_id)}`
      : troubleWords(trouble, reached, context);
  return new CliError('refused', `${what}: ${last || `ssh ended with ${code}`}`, {
    resource: tunnel.instance_id,
    retryable: trouble === 'unreachable',
    hint,
  });
}
