import { Readable } from 'node:stream';
import type { Runtime } from '../command-line/verb.ts';
import type { Context, Host } from '../context.ts';
import { asCliError, CliError } from '../errors.ts';
import { refused } from '../instances/rent/purse.ts';
import { openJobs } from '../jobs/verbs/finish.ts';
import { KEPT, Kept } from '../output/kept.ts';
import { durationWord } from '../rules/times.ts';
import { argvOf, type Given } from './arguments.ts';
import { asResult, messagesIn, type Ran, resultOf } from './result.ts';
import { purseShown, type Renting, type SessionFlags, type Target } from './session.ts';
import type { Tool } from './tools.ts';

/** A query blocks the server, and so the end of its session. */
const QUERY_LIMITS = { milliseconds: 1000, characters: KEPT };

/** A session, while it opens, runs and ends. */
export interface Life {
  readonly opening: Promise<Renting | undefined>;
  readonly ended: AbortSignal;
  /** Aborts what waits after a first interrupt. */
  readonly second: AbortSignal;
  /** Why the session ended, and an error for each instance whose results were not all copied. */
  readonly faults: CliError[];
}

/** Returns how a session runs commands. */
export function createCalls(
  { allow, unenforced }: SessionFlags,
  { opening, ended, second, faults }: Life,
  context: Context,
  runtime: Runtime,
) {
  /** The calls in hand, by their number. */
  const running = new Map<number, Promise<unknown>>();
  let calls = 0;

  async function callTool(tool: Tool, given: Given, signal: AbortSignal, onNote?: Host['onNote']) {
    calls += 1;
    const call = calls;
    const stop = new AbortController();
    const cancel = () => stop.abort(new CliError('interrupted', 'Cancelled.'));
    signal.addEventListener('abort', cancel);
    // The SDK reads a cancellation in the same chunk before this starts.
    if (signal.aborted) cancel();
    const changes = tool.facts.allow !== 'read';
    const work = async () => {
      if (ended.aborted) throw refused('The session has ended.', 'start another session');
      const renting = await opening;
      const own = allow === 'jobs' && changes ? renting?.limits.id : undefined;
      const added = addedFlags(tool, given, unenforced, renting);
      const argv = await argvOf(tool, given, added, own, context);
      const ran = await run(argv, call, AbortSignal.any([stop.signal, ended]), onNote);
      // The agent may be gone.
      const { warnings = [] } = ended.aborted ? messagesIn(ran.stderr) : {};
      for (const { code, message } of warnings) {
        if (code === 'rescue_failed') faults.push(new CliError('runFailed', message));
      }
      return resultOf(tool, given, ran, changes ? await purse() : undefined);
    };
    const done = work().catch((error) => {
      const exit_code = asCliError(error).exitCode;
      return asResult({ exit_code, ...messagesIn(runtime.report(error)) }, true);
    });
    // The end of the session waits for it.
    running.set(call, done);
    return done.finally(() => running.delete(call));
  }

  /** Shows an error of the purse in its place, since the result of a rental matters more. */
  async function purse(): Promise<object | undefined> {
    const renting = await opening;
    return renting && purseShown(renting).catch((error) => messagesIn(runtime.report(error)));
  }

  /** Stops the detached job of an instance, if any, copies its results and terminates it. */
  async function stopJob({ id, name }: Target): Promise<boolean> {
    const jobs = await openJobs(context).catch((error) => void faults.push(asCliError(error)));
    if (!jobs?.open.some((job) => job.id === id)) return false;
    const { code, stderr } = await run(['jobs', 'stop', '--json', '--no-input', id], 0, second);
    if (code === 0) return true;
    const { message = '' } = Object(messagesIn(stderr).error);
    const text = `Not all results of the job on ${name} were copied. ${message}`.trim();
    faults.push(new CliError('runFailed', text, { resource: id }));
    return false;
  }

  /** Runs a command in this process. A later change of the active profile does not affect it. */
  async function run(
    argv: readonly string[],
    call: number,
    first: AbortSignal,
    onNote: Host['onNote'] = () => undefined,
  ): Promise<Ran> {
    const { profile } = await context.settings({ key: false });
    const renting = await opening;
    const [stdout, stderr] = [new Kept(), new Kept()];
    const code = await runtime.rerun([...accountFlags(context), ...argv], {
      env: { ...context.env, ...(profile && { GPUCLOUD_PROFILE: profile.value }) },
      interrupts: { first, second },
      onThirdInterrupt: () => () => undefined,
      ...(renting && { session: { ...renting.limits, call, ended } }),
      stdin: Readable.from([]),
      onStdinData: () => undefined,
      stdout,
      syncWrite: undefined,
      stderr,
      onNote,
      queryLimits: QUERY_LIMITS,
    });
    return { code, stdout: stdout.text, stderr: stderr.text };
  }

  return { running, callTool, purse, stopJob };
}

/** Returns the flags that the session adds to a call: its own decisions. */
function addedFlags(tool: Tool, given: Given, unenforced: boolean, renting?: Renting): string[] {
  const yes = tool.facts.confirms ? ['--yes'] : [];
  const rents =
    tool.parameters.some(({ name }) => name === 'terminate_at') && given.on === undefined;
  if (renting === undefined || !rents) return yes;
  const isTimed = (given.terminate_after ?? given.terminate_at) !== undefined;
  const end = `--terminate-at=${new Date(renting.limits.endsAt).toISOString()}`;
  return [...yes, ...(isTimed ? [] : [end]), ...(unenforced ? ['--unenforced'] : [])];
}

/** Returns the server's own flags that choose the account. */
function accountFlags({ flags: { profile, baseUrl, timeout } }: Context): string[] {
  const flags = { profile, 'base-url': baseUrl, timeout: timeout && durationWord(timeout) };
  return Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
}
