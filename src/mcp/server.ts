import { referenceOf } from '../command-line/reference/index.ts';
import type { Runtime } from '../command-line/verb.ts';
import type { Context } from '../context.ts';
import { CliError, failuresOf, throwAll } from '../errors.ts';
import { openJobs } from '../jobs/verbs/finish.ts';
import type { KnownInstance } from '../journal/index.ts';
import { durationWord } from '../rules/times.ts';
import { argvOf, type Given } from './arguments.ts';
import { built } from './built.ts';
import { asResult, messagesIn, type Ran, resultOf, runCommand } from './call.ts';
import { instructionsFor, PROMPTS, promptText, resourcesFor } from './guides.ts';
import { type CallToolResult, loadSdk } from './sdk.ts';
import {
  endRented,
  explainThird,
  lateness,
  openSession,
  purseShown,
  type Renting,
  type SessionFlags,
  unresolved,
  watchDeadlines,
} from './session.ts';
import { offered, type Tool, toolsIn } from './tools.ts';

/** Milliseconds between two signs of progress: clients give up after a minute without one. */
const PROGRESS_EVERY = 5_000;

/** Bytes. A longer message ends the session. */
const LIMITS = { maxBufferSize: 16 * 1024 * 1024 };

const TOO_LONG = 'The client sent a message of more than 16 MiB, so the session has ended.';

/** Milliseconds for the client to read the last responses. */
const LAST_READ = 5_000;

/**
 * Serves the commands as tools until the client, a signal or the time ends the session. Then
 * terminates what the session rented.
 */
export async function serve(
  flags: SessionFlags,
  context: Context,
  runtime: Runtime,
): Promise<void> {
  const { clock, env, err, host, interrupts, stdin } = context;
  const { profile, sandbox } = await context.settings({ key: false });
  const { Server, StdioServerTransport, types } = await loadSdk();
  const all = built.tools() ?? toolsIn(referenceOf(runtime.wholeTree()));
  const tools = new Map(
    offered(all, flags.allow, sandbox === true).map((tool) => [tool.name, tool]),
  );
  const running = new Map<number, { stop: AbortController; done: Promise<unknown> }>();
  /** Aborts what waits after a first interrupt. */
  const hurry = new AbortController();
  const second = AbortSignal.any([hurry.signal, interrupts.second]);
  const ended = new AbortController();
  let calls = 0;
  // Lists the tools before this has read the account and the service's time.
  const opening = openSession(flags, context);

  /** Runs a command as this session. A later change of the active profile does not affect it. */
  async function run(
    argv: readonly string[],
    call: number,
    first: AbortSignal,
    onNote: (text: string) => void = () => undefined,
  ): Promise<Ran> {
    const pinned = profile === undefined ? env : { ...env, GPUCLOUD_PROFILE: profile.value };
    const renting = await opening;
    const session = renting && { session: { ...renting.limits, call, ended: ended.signal } };
    const own = { env: pinned, interrupts: { first, second }, onNote, ...session };
    return runCommand([...globalFlags(context), ...argv], own, runtime.rerun);
  }

  /** Runs a client's request. The end of the session stops the work and waits for it. */
  async function asked<T>(
    signal: AbortSignal,
    work: (call: number, stop: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (ended.signal.aborted) {
      const message = 'The session has ended. Nothing was sent.';
      throw new CliError('usage', message, { code: 'guard' });
    }
    calls += 1;
    const call = calls;
    const stop = new AbortController();
    const cancel = () => stop.abort(new CliError('interrupted', 'Cancelled.'));
    signal.addEventListener('abort', cancel, { once: true });
    // The SDK reads a cancellation in the same chunk before this starts.
    if (signal.aborted) cancel();
    const done = work(call, stop.signal);
    running.set(call, { stop, done });
    return done.finally(() => running.delete(call));
  }

  async function callTool(
    tool: Tool,
    given: Given,
    signal: AbortSignal,
    progress: (seconds: number, doing: string) => Promise<void>,
  ): Promise<CallToolResult> {
    const { allow } = tool.facts;
    const isOwn = flags.allow === 'jobs' && allow !== 'read';
    const done = new AbortController();
    let doing = '';
    void tellProgress((seconds) => progress(seconds, doing), done.signal);
    try {
      return await asked(signal, async (call, stop) => {
        const limits = (await opening)?.limits;
        const own = isOwn ? limits?.id : undefined;
        const argv = await argvOf(tool, given, added(tool, given, limits), own, context);
        const ran = await run(argv, call, stop, (note) => {
          doing = note;
        });
        if (ended.signal.aborted) noteLost(ran);
        return resultOf(tool, given, ran, allow === 'read' ? undefined : await purse());
      });
    } catch (error) {
      const exit_code = error instanceof CliError ? error.exitCode : 1;
      return asResult({ exit_code, ...messagesIn(runtime.report(error)) }, true);
    } finally {
      done.abort();
    }
  }

  /** Notes what a command could not copy: the agent may be gone. */
  function noteLost({ stderr }: Ran): void {
    for (const { code, message } of messagesIn(stderr.text).warnings ?? []) {
      if (code === 'rescue_failed') lost.push(new CliError('runFailed', message));
    }
  }

  /** Returns the flags that the session adds: its own decisions. */
  function added(
    { rents, facts }: Tool,
    given: Given,
    limits: Renting['limits'] | undefined,
  ): string[] {
    const isRental = limits !== undefined && rents && given.on === undefined;
    const isTimed = given.terminate_after !== undefined || given.terminate_at !== undefined;
    const end = isRental && !isTimed ? new Date(limits.endsAt).toISOString() : undefined;
    return [
      ...(facts.confirms ? ['--yes'] : []),
      ...(end === undefined ? [] : [`--terminate-at=${end}`]),
      ...(isRental && flags.unenforced ? ['--unenforced'] : []),
    ];
  }

  async function tellProgress(
    progress: (seconds: number) => Promise<void>,
    stop: AbortSignal,
  ): Promise<void> {
    const from = clock.monotonic();
    try {
      for (;;) {
        await clock.sleep(PROGRESS_EVERY, stop);
        await progress(Math.round((clock.monotonic() - from) / 1000));
      }
    } catch {
      // The call has ended, or the client is gone, which ends the session.
    }
  }

  /** Stops the detached job of an instance, if any, copies its results and terminates it. */
  async function stopJob({ id, name }: Pick<KnownInstance, 'id' | 'name'>): Promise<boolean> {
    const { open } = await openJobs(context).catch((error) => {
      faults.push(error);
      return { open: [] };
    });
    if (!open.some((job) => job.id === id)) return false;
    const words = ['jobs', 'stop', '--json', '--no-input', '--', id];
    const { code, stderr } = await run(words, 0, second);
    if (code === 0) return true;
    const { message = '' } = Object(messagesIn(stderr.text).error);
    const text = `Not all results of the job on ${name} were copied. ${message}`.trim();
    lost.push(new CliError('runFailed', text, { resource: id }));
    return false;
  }

  /** Never throws, since the result of a rental matters more. */
  async function purse(): Promise<object | undefined> {
    try {
      const renting = await opening;
      return renting && (await purseShown(renting));
    } catch (error) {
      return messagesIn(runtime.report(error));
    }
  }

  const hasPurse = flags.allow !== 'read';
  const unknown = (what: string) => new types.McpError(types.ErrorCode.InvalidParams, what);
  const server = new Server(
    { name: 'gpucloud', version: context.version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: instructionsFor(flags.allow),
    },
  );
  server.setRequestHandler(types.ListToolsRequestSchema, async () => ({
    tools: [...tools.values()].map(({ definition }) => definition),
  }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
    const tool = tools.get(params.name);
    if (tool === undefined) throw unknown(`Unknown tool: ${params.name.slice(0, 80)}`);
    const progressToken = params._meta?.progressToken;
    const given = Object.entries(params.arguments ?? {}).filter(([, value]) => value !== null);
    return callTool(tool, Object.fromEntries(given), extra.signal, async (progress, doing) => {
      if (progressToken === undefined) return;
      const message = [`${progress} s`, ...(doing === '' ? [] : [doing])].join(': ');
      const params = { progressToken, progress, message };
      await extra.sendNotification({ method: 'notifications/progress', params });
    });
  });
  server.setRequestHandler(types.ListResourcesRequestSchema, async () => ({
    resources: resourcesFor(hasPurse).map(({ words, text, ...resource }) => resource),
  }));
  server.setRequestHandler(types.ReadResourceRequestSchema, async ({ params: { uri } }, extra) => {
    const resource = resourcesFor(hasPurse).find((one) => one.uri === uri);
    if (resource === undefined) throw unknown('Unknown resource');
    const { mimeType, words, text } = resource;
    return asked(extra.signal, async (call, stop) => {
      const printed = words && (await run(words, call, stop)).stdout.text;
      const shown = text ?? printed ?? JSON.stringify(await purse());
      return { contents: [{ uri, mimeType, text: shown }] };
    });
  });
  server.setRequestHandler(types.ListPromptsRequestSchema, async () => ({ prompts: PROMPTS }));
  server.setRequestHandler(types.GetPromptRequestSchema, async ({ params }) => {
    const text = promptText(params.name, params.arguments ?? {});
    if (text === undefined) throw unknown('Unknown prompt');
    return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
  });

  const faults: unknown[] = [];
  /** An error for each instance whose results were not all copied. */
  const lost: CliError[] = [];
  let onOver: (...why: unknown[]) => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    onOver = (...why) => {
      faults.push(...why);
      resolve();
    };
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve());
    host.stdout.on('error', () => resolve());
    // Only a message that is too long closes the connection from this side before the end.
    server.onclose = () => {
      if (!ended.signal.aborted) onOver(new CliError('usage', TOO_LONG));
    };
    if (interrupts.first.aborted) resolve();
    interrupts.first.addEventListener('abort', () => {
      // Clients close stdin first, and send a signal if that takes long.
      if (ended.signal.aborted) hurry.abort(interrupts.first.reason);
      resolve();
    });
  });
  const connected = server.connect(new StdioServerTransport(stdin, host.stdout, LIMITS));
  const [renting] = await Promise.all([opening, connected]);
  const watching =
    renting && context.shielded((own) => watchDeadlines(renting, onOver, own), ended.signal);
  let explained: Promise<unknown> | undefined;
  interrupts.second.addEventListener('abort', () => {
    explained = renting && failuresOf(explainThird(renting, context));
  });
  err.note(`Serving ${tools.size} tools over stdio (--allow ${flags.allow}).`);
  await over;

  const reason = interrupts.first.reason ?? new CliError('interrupted', 'The session ended.');
  ended.abort(reason);
  for (const { stop } of running.values()) stop.abort(reason);
  const hurries = flags.unenforced;
  const how = { stopJob, hurries, onLost: (error: CliError) => lost.push(error) };
  const end = (which: (instance: KnownInstance) => boolean) =>
    context.shielded(
      async (own) => (renting ? endRented(renting, which, own, how) : []),
      hurries ? second : undefined,
    );
  const ends = (one: KnownInstance) => !flags.keep || lateness(one, context) >= 0;
  const inHand = [watching, ...[...running.values()].map(({ done }) => done)];
  // First what no call ends, since the client may kill this process within seconds.
  const first = end((one) => ends(one) && !running.has(one.session?.call ?? 0));
  await Promise.allSettled([first, ...inHand]);
  // The second time reports what may still be billing.
  const doubts = [...(await end(ends)), ...lost];
  if (renting) doubts.push(...(await unresolved(renting)));
  await explained;
  await server.close();
  if (host.stdout.writableLength > 0) {
    const read = new Promise<void>((resolve) => host.stdout.once('drain', () => resolve()));
    await Promise.race([read, clock.sleep(LAST_READ)]);
  }
  host.dropOutput?.();
  throwAll(doubts);
  for (const fault of faults) throw fault;
  if (interrupts.first.aborted) throw interrupts.first.reason;
}

/** Passes on the server's own flags that choose the account. */
function globalFlags({ flags: { profile, baseUrl, timeout } }: Context): string[] {
  return [
    ...(profile === undefined ? [] : [`--profile=${profile}`]),
    ...(baseUrl === undefined ? [] : [`--base-url=${baseUrl}`]),
    ...(timeout === undefined ? [] : [`--timeout=${durationWord(timeout)}`]),
  ];
}
