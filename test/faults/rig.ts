import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../support/afterwards.ts';
import { type Outcome, outcomeOf, RUNNER } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import {
  bringsId,
  type CuttingProxy,
  type Fault,
  NO_FAULT,
  type Point,
  startProxy,
} from './proxy.ts';
import { type Books, type BooksOptions, openBooks, SOURCE } from './service.ts';

export const KEY = 'svc_sk_canary0123456789abcdef';

/** When to send SIGKILL. */
export type Kill =
  /** At a point of the network. */
  | { readonly at: Point }
  /** At the nth call of this name in one thread, which needs strace. */
  | { readonly call: string; readonly nth: number }
  | { readonly afterMs: number }
  /** As soon as the journal contains a file with a matching path. */
  | { readonly file: RegExp };

export interface Scenario {
  readonly operation: 'create' | 'reorder' | 'run';
  readonly fault: Fault;
  readonly kill?: Kill;
  /** Additional flags of the command. */
  readonly flags?: readonly string[];
}

export interface Ran {
  readonly name: string;
  readonly scenario: Scenario;
  readonly outcome: Outcome;
  /** The number of POSTs that the program sent. */
  readonly posts: number;
  readonly killed: boolean;
}

/** A computer, a faulty network, and a service that records instances. */
export interface Rig {
  readonly home: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  readonly books: Books;
  readonly proxy: CuttingProxy;
  start(argv: readonly string[], how?: StartOptions): ChildProcessWithoutNullStreams;
  gpucloud(argv: readonly string[], how?: StartOptions): Promise<Outcome>;
  /** Plays one scenario with a new name. */
  play(scenario: Scenario): Promise<Ran>;
  /** Returns the violations after all scenarios. */
  violations(): Promise<string[]>;
  close(): Promise<void>;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A command that starts the program, such as strace. */
  readonly prefix?: readonly string[];
}

/** The instances have no SSH server, so `run` gives up after three seconds. */
const SIGN_IN = ['--ssh-key', SOURCE, '--identity', '/dev/null', '--wait-timeout', '3s'];

const WORDS: Record<Scenario['operation'], (name: string) => string[]> = {
  create: (name) => ['instances', 'create', name, ...HARDWARE],
  reorder: (name) => ['instances', 'reorder', SOURCE, name],
  run: (name) => ['run', '--name', name, ...HARDWARE, ...SIGN_IN],
};

export function argvFor(operation: Scenario['operation'], name: string, timeout = '60s'): string[] {
  return [...WORDS[operation](name), '--timeout', timeout, '--json'];
}

/** The program's file, or the command line of an executable for another computer. */
type Program = string | readonly string[];

export async function openRig(program: Program, options: BooksOptions = {}): Promise<Rig> {
  const home = await mkdtemp(join(tmpdir(), 'gpucloud-rig-'));
  const state = join(home, 'state');
  const books = await openBooks(options);
  const proxy = await startProxy(books.url);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GPUCLOUD_CONFIG_DIR: join(home, 'config'),
    GPUCLOUD_STATE_DIR: state,
    GPUCLOUD_BASE_URL: proxy.url,
    GPUCLOUD_API_KEY: KEY,
    // The cache of compiled code would add system calls to those that the tests count.
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
  const played: Ran[] = [];
  let count = 0;
  const words = typeof program === 'string' ? [RUNNER, program] : program;

  const start: Rig['start'] = (argv, { env: more = {}, prefix = [] } = {}) => {
    const [command = '', ...rest] = [...prefix, ...words, ...argv];
    return spawn(command, rest, { env: { ...env, ...more }, cwd: home });
  };
  const gpucloud: Rig['gpucloud'] = (argv, how) => outcomeOf(start(argv, how));

  return {
    home,
    state,
    env,
    books,
    proxy,
    start,
    gpucloud,
    async play(scenario) {
      const { operation, fault, kill, flags = [] } = scenario;
      count += 1;
      const name = `m${count}-${operation}`;
      let child: ChildProcessWithoutNullStreams | undefined;
      let killed = false;
      const strike = async (): Promise<void> => {
        // Skips an exited process, since a watcher may still report files.
        const isGone = child?.exitCode !== null || child.signalCode !== null;
        if (child === undefined || isGone || killed) return;
        const gone = new Promise((resolve) => child?.once('exit', resolve));
        killed = child.kill('SIGKILL');
        if (killed) await gone;
      };
      await proxy.arm(fault, (point) =>
        kill !== undefined && 'at' in kill && kill.at === point ? strike() : undefined,
      );
      // Shortens the timeout if the response never arrives.
      const timeout = fault.slow === 'stall' ? '2s' : '60s';
      const command = operation === 'run' ? ['--', 'true'] : [];
      child = start([...argvFor(operation, name, timeout), ...flags, ...command], traced(kill));
      const watch = watcher(kill, state, strike);
      const outcome = await outcomeOf(child);
      watch.stop();
      killed ||= child.signalCode === 'SIGKILL';
      const ran = { name, scenario, outcome, posts: proxy.posts, killed };
      played.push(ran);
      return ran;
    },
    async violations() {
      await proxy.arm(NO_FAULT);
      return judge(played, books, () => gpucloud(['instances', 'list', '--all', '--json']));
    },
    async close() {
      await proxy.close();
      await books.close();
      await removeFolder(home);
    },
  };
}

/**
 * Kills at the nth call. strace counts calls per thread: the main thread makes the journal's calls,
 * another thread the rest. With --seccomp-bpf, strace 6.1 counts only to one.
 */
function traced(kill: Kill | undefined): StartOptions {
  if (kill === undefined || !('call' in kill)) return {};
  const { call, nth } = kill;
  return {
    env: { UV_THREADPOOL_SIZE: '1' },
    prefix: [
      ...['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`],
      ...['-e', `inject=${call}:signal=KILL:when=${nth}`],
    ],
  };
}

function watcher(
  kill: Kill | undefined,
  state: string,
  strike: () => Promise<void>,
): { stop(): void } {
  if (kill === undefined || 'at' in kill || 'call' in kill) return { stop: () => undefined };
  if ('afterMs' in kill) {
    const timer = setTimeout(() => void strike(), kill.afterMs);
    return { stop: () => clearTimeout(timer) };
  }
  const before = new Set(filesUnder(state));
  const timer = setInterval(() => {
    if (filesUnder(state).some((path) => !before.has(path) && kill.file.test(path))) void strike();
  }, 1);
  return { stop: () => clearInterval(timer) };
}

function filesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  try {
    return readdirSync(folder, { recursive: true }).map(String);
  } catch {
    // A file may disappear while its folder is read.
    return [];
  }
}

export interface Row {
  readonly id: string | null;
  readonly name: string;
  readonly status: string;
}

/**
 * Checks the promises of docs/reliability.md: compares the service's instances with the output of
 * `list`.
 */
async function judge(
  played: readonly Ran[],
  books: Books,
  list: () => Promise<Outcome>,
): Promise<string[]> {
  const wrong: string[] = [];
  const listing = await list();
  if (listing.code !== 0) wrong.push(`the list ended with ${listing.code}: ${listing.stderr}`);
  const rows: Row[] = listing.code === 0 ? JSON.parse(listing.stdout) : [];
  for (const { name, scenario, outcome, posts, killed } of played) {
    const say = (what: string) =>
      wrong.push(
        `${name} (${scenario.fault.name}; ${JSON.stringify(scenario.kill)}; exit ${outcome.code}): ${what}\n${outcome.stderr}`,
      );
    const made = [...books.instances.values()].filter((instance) => instance.name === name);
    const isUnknown = rows.some((row) => row.name === name && row.status === 'UNKNOWN');
    if (posts > 1 || books.posts(name) > 1) say(`${Math.max(posts, books.posts(name))} POSTs`);
    for (const { id } of made) {
      if (!isUnknown && !rows.some((row) => row.id === id)) say(`the instance ${id} is lost`);
    }
    if (killed) continue;
    const [instance] = made;
    if (outcome.code === 0 && !(instance !== undefined && outcome.stdout.includes(instance.id))) {
      say('success without the ID of an instance');
    }
    if (scenario.fault.strange === true && outcome.code !== 7) {
      say('a response about another instance was believed');
    }
    if (outcome.code === 0 && isUnknown) say('success, and UNKNOWN');
    if (outcome.code === 7 && !isUnknown) say('exit 7, and no UNKNOWN');
    // The exit codes 0 (done), 7 (unknown), 9 (not stored) and 10 (not understood) allow an
    // instance.
    if (instance !== undefined && ![0, 7, 9, 10].includes(outcome.code ?? -1))
      say('created anyway');
    if (instance !== undefined && bringsId(scenario.fault) && isUnknown) {
      say('the id came, and was not kept');
    }
  }
  return wrong;
}

interface Line {
  readonly name: string;
  /** An open request, or an instance that a request created. */
  readonly kind: 'open' | 'made';
}

/** Reads the journal directly from its files. */
export async function recordsOn(state: string): Promise<Line[]> {
  const files = filesUnder(state).flatMap((path) => {
    const place = /journal\/[^/]+\/[^/]+\/(requests|instances)\/[^/]+\.json$/.exec(path)?.[1];
    return place === undefined ? [] : [{ path, place }];
  });
  return Promise.all(
    files.map(async ({ path, place }): Promise<Line> => {
      const { name } = JSON.parse(await readFile(join(state, path), 'utf8')) as { name: string };
      return { name, kind: place === 'requests' ? 'open' : 'made' };
    }),
  );
}

/** Returns the text of all files in a folder, to search it for secrets. */
export async function allText(
  folder: string,
  isCounted = (_name: string) => true,
): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && isCounted(entry.name));
  const texts = await Promise.all(
    files.map(
      async ({ parentPath, name }) =>
        `${name}\n${await readFile(join(parentPath, name), 'latin1')}`,
    ),
  );
  return texts.join('\n');
}

/** Plays scenarios on several computers at once. Returns the violations and the number of kills. */
export async function playAll(
  program: Program,
  scenarios: readonly Scenario[],
  { computers = 3, each = 12 } = {},
): Promise<{ violations: string[]; played: number; killed: number; instances: number }> {
  const left = [...scenarios];
  const sum = { violations: [] as string[], played: 0, killed: 0, instances: 0 };
  async function work(): Promise<void> {
    while (left.length > 0) {
      const rig = await openRig(program);
      try {
        for (const scenario of left.splice(0, each)) {
          const { killed } = await rig.play(scenario);
          sum.played += 1;
          if (killed) sum.killed += 1;
        }
        sum.violations.push(...(await rig.violations()));
        sum.instances += rig.books.instances.size;
      } catch (error) {
        left.length = 0;
        throw error;
      } finally {
        await rig.close();
      }
    }
  }
  // Waits for every computer, even if one failed.
  const ended = await Promise.allSettled(Array.from({ length: computers }, work));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  return sum;
}
