import { referenceOf } from '../command-line/reference/index.ts';
import type { Runtime } from '../command-line/verb.ts';
import type { Context } from '../context.ts';
import { asCliError, CliError, isInterrupt, throwAll, usageError } from '../errors.ts';
import type { KnownInstance } from '../journal/index.ts';
import { isSandbox } from '../watch/ssh-endpoint.ts';
import { built } from './built.ts';
import { createCalls } from './calls.ts';
import { createServer, StdioServerTransport } from './protocol.ts';
import { endRented, lateness, openSession, type SessionFlags, watchDeadlines } from './session.ts';
import { offered, toolsIn } from './tools.ts';

/** Milliseconds for the client to read the last responses. */
const LAST_READ = 5_000;

/** Serves tools until the client, a signal or the time ends it. Then terminates what it rented. */
export async function serve(
  flags: SessionFlags,
  context: Context,
  runtime: Runtime,
): Promise<void> {
  const { clock, err, host, interrupts, stdin } = context;
  const all = built.tools() ?? toolsIn(referenceOf(runtime.wholeTree()));
  const tools = offered(all, flags.allow, await isSandbox(context));
  const faults: CliError[] = [];
  const ended = new AbortController();
  const hurry = new AbortController();
  const second = AbortSignal.any([hurry.signal, interrupts.second]);
  // Lists the tools before this has read the account and the service's time.
  const opening = openSession(flags, context, ended.signal);
  const life = { opening, ended: ended.signal, second, faults };
  const calls = createCalls(flags, life, context, runtime);
  const server = createServer(tools, flags.allow, calls, context);

  /** Ends the session, because of a fault if given. */
  function end(fault?: unknown): void {
    if (fault !== undefined && !ended.signal.aborted) faults.push(asCliError(fault));
    ended.abort(interrupts.first.reason ?? new CliError('interrupted', 'The session ended.'));
  }
  const over = new Promise((resolve) => ended.signal.addEventListener('abort', resolve));
  for (const event of ['end', 'close', 'error']) stdin.once(event, () => end());
  host.stdout.on('error', () => end());
  // Only a message that is too long closes the connection from this side before the end.
  server.onclose = () =>
    end(usageError('The client sent a message of more than 10 MiB, so the session has ended.'));
  interrupts.first.addEventListener('abort', () => {
    // Clients close stdin first, and send a signal if that takes long.
    if (ended.signal.aborted) hurry.abort(interrupts.first.reason);
    else end();
  });
  if (interrupts.first.aborted) end();

  const connected = server.connect(new StdioServerTransport(stdin, host.stdout));
  // The end of the session stops its opening.
  const renting = await opening.catch((error) => {
    if (!isInterrupt(error)) throw error;
    return undefined;
  });
  await connected;
  const watching =
    renting && context.shielded((own) => watchDeadlines(renting, end, own), ended.signal);
  err.note(`Serving ${tools.length} tools over stdio (--allow ${flags.allow}).`);
  await over;

  const endAll = (which: (instance: KnownInstance) => boolean) =>
    context.shielded(
      async (own) => (renting ? endRented(renting, which, faults, own, calls.stopJob) : []),
      flags.unenforced ? second : undefined,
    );
  const ends = (one: KnownInstance) => !flags.keep || lateness(one, context) >= 0;
  // First what no call ends, since the client may kill this process within seconds.
  const first = endAll((one) => ends(one) && !calls.running.has(Number(one.session?.call)));
  await Promise.allSettled([first, watching, ...calls.running.values()]);
  // The second time reports what may still be billing.
  const left = await endAll(ends).catch((thrown) => {
    const error = asCliError(thrown);
    const message = `What the session rented may still be billing. ${error.message}`;
    return [error.with(message, { mayBeBilling: true })];
  });
  faults.push(...left);
  if (host.stdout.writableLength > 0) {
    const read = new Promise((resolve) => host.stdout.once('drain', resolve));
    await Promise.race([read, clock.sleep(LAST_READ)]);
  }
  host.dropOutput?.();
  throwAll(faults);
  if (interrupts.first.aborted) throw interrupts.first.reason;
}
