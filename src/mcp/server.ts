import { commandsOf } from '../command-line/reference/index.ts';
import type { Runtime } from '../command-line/verb.ts';
import type { Context } from '../context.ts';
import { CliError, throwAll } from '../errors.ts';
import { purseOf } from '../instances/rent/purse.ts';
import { durationWord } from '../rules/times.ts';
import { argvOf } from './arguments.ts';
import { asResult, messagesIn, type Ran, resultOf, runCommand } from './call.ts';
import { instructionsFor, PROMPTS, promptText, resourcesOf } from './guides.ts';
import { type CallToolResult, loadSdk } from './sdk.ts';
import {
  endRented,
  openSession,
  purseShown,
  type SessionFlags,
  sessionOver,
  unresolved,
  watchDeadlines,
} from './session.ts';
import { type Tool, toolsOf } from './tools.ts';

/** A call that runs. */
interface Running {
  readonly stop: AbortController;
  readonly done: Promise<unknown>;
}

interface Extra {
  readonly signal: AbortSignal;
  /** Tells the client that the call goes on. */
  progress(seconds: number): Promise<void>;
}

/** Milliseconds between two signs of progress: clients give up after a minute without one. */
const PROGRESS_EVERY = 5_000;

/**
 * Serves the commands as tools until the client, a signal or the time ends the session. Then
 * terminates what the session rented.
 */
export async function serve(
  flags: SessionFlags,
  context: Context,
  runtime: Runtime,
): Promise<void> {
  const { clock, env, err, interrupts } = context;
  const { profile, sandbox } = await context.settings({ key: false });
  const [renting, sdk] = await Promise.all([openSession(flags, context), loadSdk()]);
  const tree = runtime.wholeTree();
  const commands = commandsOf(tree, tree);
  const tools = new Map(
    toolsOf(commands, flags.allow, sandbox === true).map((tool) => [tool.name, tool]),
  );
  const running = new Map<number, Running>();
  /** Aborts what waits after a first interrupt. */
  const hurry = new AbortController();
  const second = AbortSignal.any([hurry.signal, interrupts.second]);
  let isOver = false;
  let calls = 0;

  /** Runs a command as this session. A later change of the active profile does not affect it. */
  function run(argv: readonly string[], call: number, stop: AbortSignal): Promise<Ran> {
    const session = renting && { ...renting.limits, call };
    const pinned = profile === undefined ? env : { ...env, GPUCLOUD_PROFILE: profile.value };
    return runCommand(
      { argv: [...globalFlags(context), ...argv], session, interrupts: { first: stop, second } },
      (words, changes) => runtime.rerun(words, { ...changes, env: pinned }),
    );
  }

  async function callTool(
    tool: Tool,
    given: Readonly<Record<string, unknown>>,
    { signal, progress }: Extra,
  ): Promise<CallToolResult> {
    calls += 1;
    const call = calls;
    const stop = new AbortController();
    const cancel = () => stop.abort(new CliError('interrupted', 'Cancelled.'));
    signal.addEventListener('abort', cancel, { once: true });
    const ended = new AbortController();
    const work = async () => {
      if (isOver) throw sessionOver(renting);
      const { facts } = tool;
      const isOwn = facts.own_instances_only || (flags.allow === 'jobs' && facts.allow !== 'read');
      const added = addedFlags(tool, given);
      const limits = { ownSession: isOwn ? renting?.limits.id : undefined };
      const argv = await argvOf(tool, given, { ...limits, added }, context);
      return run(argv, call, stop.signal);
    };
    const done = work();
    running.set(call, { stop, done });
    void tellProgress(progress, ended.signal);
    try {
      const ran = await done;
      const changes = renting !== undefined && tool.facts.allow !== 'read';
      return resultOf(tool, given, ran, changes ? await purse() : undefined);
    } catch (error) {
      return asResult(messagesIn(runtime.report(error)), true);
    } finally {
      running.delete(call);
      ended.abort();
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Returns the flags that the session adds: its own decisions. */
  function addedFlags(tool: Tool, given: Readonly<Record<string, unknown>>): string[] {
    const isRental = tool.rents && given.on === undefined;
    const isTimed = given.terminate_after !== undefined || given.terminate_at !== undefined;
    const end = renting && isRental && !isTimed ? new Date(renting.limits.endsAt) : undefined;
    return [
      ...(tool.facts.confirms ? ['--yes'] : []),
      ...(end === undefined ? [] : [`--terminate-at=${end.toISOString()}`]),
      ...(isRental && renting?.unenforced ? ['--unenforced'] : []),
    ];
  }

  async function tellProgress(progress: Extra['progress'], stop: AbortSignal): Promise<void> {
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

  async function purse(): Promise<object | undefined> {
    return renting && purseShown(renting, await purseOf(renting.limits, renting.journal));
  }

  const { types } = sdk;
  const resources = resourcesOf(tree, commands, renting !== undefined);
  const server = new sdk.Server(
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
    if (tool === undefined) {
      const text = `Unknown tool: ${params.name.slice(0, 80)}`;
      throw new types.McpError(types.ErrorCode.InvalidParams, text);
    }
    const token = params._meta?.progressToken;
    const given = Object.entries(params.arguments ?? {}).filter(([, value]) => value !== null);
    return callTool(tool, Object.fromEntries(given), {
      signal: extra.signal,
      async progress(seconds) {
        if (token === undefined) return;
        await extra.sendNotification({
          method: 'notifications/progress',
          params: { progressToken: token, progress: seconds, message: `${seconds} s` },
        });
      },
    });
  });
  server.setRequestHandler(types.ListResourcesRequestSchema, async () => ({
    resources: resources.map(({ words: _words, ...resource }) => resource),
  }));
  server.setRequestHandler(types.ReadResourceRequestSchema, async ({ params: { uri } }, extra) => {
    const resource = resources.find((one) => one.uri === uri);
    if (resource === undefined) {
      throw new types.McpError(types.ErrorCode.InvalidParams, 'Unknown resource');
    }
    const { mimeType, words } = resource;
    const text =
      words === undefined
        ? JSON.stringify(await purse())
        : (await run(words, 0, extra.signal)).stdout.text;
    return { contents: [{ uri, mimeType, text }] };
  });
  server.setRequestHandler(types.ListPromptsRequestSchema, async () => ({ prompts: PROMPTS }));
  server.setRequestHandler(types.GetPromptRequestSchema, async ({ params }) => {
    const text = promptText(params.name, params.arguments ?? {});
    if (text === undefined) {
      throw new types.McpError(types.ErrorCode.InvalidParams, 'Unknown prompt');
    }
    return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
  });

  const ended = new AbortController();
  const over = new Promise<void>((resolve) => {
    const { stdin, host } = context;
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve());
    host.stdout.on('error', () => resolve());
    server.onclose = () => resolve();
    if (interrupts.first.aborted) resolve();
    interrupts.first.addEventListener('abort', () => {
      // Clients close stdin first, and send a signal if that takes long.
      if (isOver) hurry.abort(interrupts.first.reason);
      resolve();
    });
  });
  const longest = { maxBufferSize: LONGEST_MESSAGE };
  await server.connect(new sdk.StdioServerTransport(context.stdin, context.host.stdout, longest));
  err.note(`Serving ${tools.size} tools over stdio (--allow ${flags.allow}).`);
  const timer = renting
    ? watchDeadlines(renting, () => new Set(running.keys()), ended.signal, context)
    : new Promise<never>(() => undefined);
  const fault = await Promise.race([over, timer]).then(
    () => [],
    (error: unknown) => [error],
  );

  isOver = true;
  const reason = interrupts.first.aborted
    ? interrupts.first.reason
    : new CliError('interrupted', 'The session ended.');
  for (const { stop } of running.values()) stop.abort(reason);
  const faults: CliError[] = [];
  if (renting && !flags.keep) {
    // First those that no call ends, since the client may kill this process within seconds.
    await endRented(renting, new Set(running.keys()), context);
    await settled(running);
    faults.push(...(await endRented(renting, new Set(), context)));
  } else {
    await settled(running);
  }
  ended.abort();
  if (renting) faults.push(...(await unresolved(renting)));
  await server.close();
  throwAll(faults);
  for (const error of fault) throw error;
  if (interrupts.first.aborted) throw interrupts.first.reason;
}

/** Bytes. A longer message ends the session. */
const LONGEST_MESSAGE = 64 * 1024 * 1024;

async function settled(running: ReadonlyMap<number, Running>): Promise<void> {
  await Promise.allSettled([...running.values()].map(({ done }) => done));
}

/** Passes on the server's own flags that choose the account. */
function globalFlags({ flags: { profile, baseUrl, timeout } }: Context): string[] {
  return [
    ...(profile === undefined ? [] : [`--profile=${profile}`]),
    ...(baseUrl === undefined ? [] : [`--base-url=${baseUrl}`]),
    ...(timeout === undefined ? [] : [`--timeout=${durationWord(timeout)}`]),
  ];
}
