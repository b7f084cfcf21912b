import { asCliError, type Failure, usageError } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { createMessages, createOutput, parseFormat, wantsColour } from '../output/index.ts';
import type { Format } from '../output/output.ts';
import { createPrompts } from '../prompts/index.ts';
import { type Child, type Running, type Signal, withoutApiKey } from '../system/programs.ts';
import type { Context, GlobalFlags, Host } from './contract.ts';
import { leavingOf } from './interrupts.ts';

export type Terminal = Pick<
  Context,
  'out' | 'err' | 'prompts' | 'terminalPrompts' | 'start' | 'startPiped' | 'withhold'
> & {
  /** The API keys that this run sends, which no row of its result shows. */
  readonly ownKeys: Set<string>;
};

/**
 * Creates streams, prompts and the starter of programs. `now` is the service's time. No program
 * receives the variables in `withheld`.
 */
export function createTerminal(
  host: Host,
  flags: GlobalFlags,
  now: () => number,
  withheld: Set<string>,
): Terminal {
  const { env, clock, interrupts } = host;
  const ownKeys = new Set<string>();
  // Opens the stream only to write, or to check for a terminal if `syncWrite` is missing.
  const stdout = {
    get isTTY() {
      return host.syncWrite === undefined && host.stdout.isTTY === true;
    },
  };
  const format = formatOf(flags, env);
  if (flags.csvSafe && format !== 'csv') throw usageError('--csv-safe needs -o csv');
  const err = createMessages({
    json: format === 'json' || format === 'jsonl',
    quiet: flags.quiet === true,
    quietProgress: flags.debug === true,
    profile: flags.profile,
    onNote: host.onNote,
    get stderr() {
      return host.stderr;
    },
    clock,
    get colour() {
      return wantsColour(host.stderr, env, flags.color);
    },
    env,
  });
  const out = createOutput({
    get stdout() {
      return host.stdout;
    },
    syncWrite: host.syncWrite,
    stop: leavingOf(interrupts),
    env,
    clock: { ...clock, now },
    get colour() {
      return wantsColour(stdout, env, flags.color);
    },
    profile: flags.profile,
    note: (text) => err.note(text),
    borrowScreen: host.borrowScreen,
    settings: {
      format,
      header: flags.header !== false,
      showSecrets: flags.showSecrets === true,
      ownKeys,
      csvSafe: flags.csvSafe === true,
      columns: flags.columns,
      sort: flags.sort,
      query: flags.query,
      ...(host.queryLimits && { queryLimits: host.queryLimits }),
    },
  });
  const childEnv = () =>
    Object.fromEntries(Object.entries(withoutApiKey(env)).filter(([name]) => !withheld.has(name)));
  const promptsOn = (stdin: Host['stdin']) =>
    createPrompts({
      stdin,
      stderr: host.stderr,
      env,
      colour: wantsColour(host.stderr, env, flags.color),
      signal: interrupts.first,
    });
  const prompts = lazy(async () =>
    canAsk(host, flags) && host.stdin.isTTY === true ? promptsOn(host.stdin) : undefined,
  );
  return {
    out,
    err,
    ownKeys,
    prompts,
    terminalPrompts: lazy(async () => {
      if (!canAsk(host, flags) || host.stdin.isTTY === true) return prompts();
      const terminal = await host.openTerminal?.();
      return terminal && promptsOn(terminal);
    }),
    start: ({ keepsApiKey = false, ...program }) =>
      startProgram(program, keepsApiKey ? env : childEnv(), host),
    startPiped: (program) =>
      host.startPiped(
        { ...program, env: childEnv(), signalGroup: host.signalGroup },
        host.platform,
      ),
    withhold(names) {
      for (const name of names) withheld.add(name);
    },
  };
}

/** Starts a program and forwards every signal, since only a terminal signals all its programs. */
async function startProgram(
  { env: added, ownSignals = false, ...program }: Omit<Child, 'keepsApiKey'>,
  own: Host['env'],
  { start, interrupts }: Host,
): Promise<Running> {
  const running = await start({ ...program, env: { ...own, ...added } });
  if (ownSignals) return running;
  const listeners = [interrupts.first, interrupts.second].map((signal) => {
    const pass = () => running.kill(signalOf(signal.reason));
    if (signal.aborted) pass();
    else signal.addEventListener('abort', pass, { once: true });
    return () => signal.removeEventListener('abort', pass);
  });
  const forget = () => {
    for (const stop of listeners) stop();
  };
  running.ended.then(forget, forget);
  return running;
}

const SIGNALS: Readonly<Partial<Record<Failure, Signal>>> = {
  interrupted: 'SIGINT',
  terminated: 'SIGTERM',
  hungUp: 'SIGHUP',
};

function signalOf(reason: unknown): Signal {
  return SIGNALS[asCliError(reason).failure] ?? 'SIGTERM';
}

/**
 * Returns the output format. Rejects contradictory `--json`, `-q` and `-o`. A query implies JSON
 * unless a format is given.
 */
export function formatOf(flags: GlobalFlags, env: Host['env']): Format {
  const given = new Set<string>();
  if (flags.output !== undefined) given.add(flags.output);
  if (flags.json === true) given.add('json');
  if (flags.quiet === true) given.add('id');
  const [format, other] = given;
  if (format !== undefined && other !== undefined) {
    throw usageError(
      `--output, --json and --quiet select different formats: ${format} and ${other}`,
    );
  }
  if (format !== undefined) return checkedFor(flags.query, parseFormat(format));
  const fromEnv = parseFormat(env.GPUCLOUD_OUTPUT || 'table', 'GPUCLOUD_OUTPUT');
  if (flags.query === undefined) return fromEnv;
  // A query overrides a format from the environment that can't show its result.
  return WITH_QUERY.includes(fromEnv) ? fromEnv : 'json';
}

/** Formats that can show any query result (see output/formats/query.ts). */
const WITH_QUERY: readonly Format[] = ['json', 'jsonl', 'yaml', 'csv', 'tsv'];

function checkedFor(query: string | undefined, format: Format): Format {
  if (query !== undefined && !WITH_QUERY.includes(format)) {
    throw usageError(`--query "${query}": works with ${WITH_QUERY.join(', ')}, not ${format}`);
  }
  return format;
}

/** Whether questions are allowed and can be shown. */
function canAsk(host: Host, flags: GlobalFlags): boolean {
  const forbidden =
    flags.input === false || isSet(host.env.GPUCLOUD_NO_INPUT) || isSet(host.env.CI);
  return host.stderr.isTTY === true && !forbidden;
}

/** `CI=false` and `CI=0` count as not set. */
function isSet(variable: string | undefined): boolean {
  return variable !== undefined && variable !== '' && variable !== '0' && variable !== 'false';
}
