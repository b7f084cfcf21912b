import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createTerminal, formatOf } from '../../src/context/terminal.ts';
import type { GlobalFlags, Host } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import type { Child, Program } from '../../src/system/programs.ts';
import { clock, NOW, Page, Screen } from '../output/world.ts';

const LATER = NOW + 120_000;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly at: string;
  readonly env: string;
  readonly note: string;
}

const ROWS: readonly Row[] = [
  { id: 'b', name: '=1+1', at: '2026-03-01T12:00:00Z', env: 'hidden', note: 'own-key-0123' },
  { id: 'a', name: 'x', at: '2026-03-01T12:01:00Z', env: 'hidden', note: '-' },
];

const VIEW = {
  columns: [
    { id: 'id', header: 'ID', value: ({ id }: Row) => id },
    { id: 'name', header: 'NAME', value: ({ name }: Row) => name },
    { id: 'at', header: 'AT', value: ({ at }: Row) => at },
    { id: 'note', header: 'NOTE', value: ({ note }: Row) => note },
    { id: 'env', header: 'ENV', hidden: true, value: ({ env }: Row) => env },
  ],
  id: ({ id }: Row) => id,
  empty: 'None.',
  secrets: ['env'],
} as const;

/** Starts a terminal of a host that has no other parts than these. */
function terminalOf(flags: GlobalFlags, parts: Partial<Host> = {}) {
  const [stdout, stderr] = [new Page(), new Page()];
  const notes: string[] = [];
  const never = new AbortController().signal;
  const host = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: {},
    clock,
    platform: 'linux',
    interrupts: { first: never, second: never },
    onNote: (text: string) => void notes.push(text),
    ...parts,
  } as unknown as Host;
  return { terminal: createTerminal(host, flags, () => LATER, new Set()), stdout, stderr, notes };
}

test.each<GlobalFlags>([
  {},
  { json: true },
  { output: 'jsonl' },
  { quiet: true },
  { quiet: false, header: false, showSecrets: false },
  { debug: true },
  { profile: 'work lab' },
  { output: 'csv' },
  { output: 'csv', csvSafe: true },
  { output: 'csv', header: true },
  { output: 'tsv', header: false },
  { output: 'table', columns: ['env', 'name'], sort: '-name' },
  { output: 'yaml', sort: 'id', showSecrets: true },
  { query: '[].name' },
])('writes a list and messages with the flags %j', async (flags) => {
  const { terminal, stdout, stderr, notes } = terminalOf(flags);
  terminal.ownKeys.add('own-key-0123');
  terminal.err.progress('Waiting').update('Still waiting');
  terminal.err.note('A note');
  terminal.err.warn('skipped' as never, 'A warning');
  terminal.err.debug('A trace');
  terminal.err.relay('A line of a program');
  await terminal.out.list(ROWS, VIEW);
  const parts = [stdout.text, stderr.text, notes.map((note) => `(${note})`).join('\n')];
  expect(`\n${parts.join('\n')}\n`).toMatchSnapshot();
});

test.each<[GlobalFlags, Record<string, string>]>([
  [{}, {}],
  [{ color: 'always' }, {}],
  [{ color: 'never' }, { FORCE_COLOR: '1' }],
  [{ color: false }, {}],
  [{}, { NO_COLOR: '1' }],
  [{}, { TERM: 'dumb' }],
])('colours a terminal with the flags %j and variables %j', async (flags, env) => {
  const stdout = new Page({ columns: 80 });
  const stderr = new Screen({ columns: 80 });
  const { terminal } = terminalOf(flags, { stdout, stderr, env });
  terminal.err.warn('skipped' as never, 'A warning');
  const status = { ...VIEW.columns[0], kind: 'status', value: () => 'ACTIVE' } as const;
  const time = { ...VIEW.columns[2], kind: 'time' } as const;
  await terminal.out.list(ROWS, { ...VIEW, columns: [status, time] });
  expect([stdout.text, stderr.text]).toMatchSnapshot();
});

test('takes no terminal for stdout if it is written without a stream', async () => {
  const stdout = new Page({ columns: 80 });
  let written = '';
  const syncWrite = (bytes: Uint8Array) => {
    written += Buffer.from(bytes).toString();
    return bytes.length;
  };
  const { terminal } = terminalOf({}, { stdout, syncWrite });
  await terminal.out.list(ROWS, { ...VIEW, columns: [{ ...VIEW.columns[0], kind: 'status' }] });
  expect([written, stdout.text]).toEqual(['ID\nb\na\n', '']);
});

test.each<[GlobalFlags, string | undefined, string]>([
  [{}, undefined, 'table'],
  [{}, '', 'table'],
  [{}, 'yaml', 'yaml'],
  [{}, 'xml', 'usage'],
  [{ output: 'csv' }, 'yaml', 'csv'],
  [{ output: 'xml' }, undefined, 'usage'],
  [{ json: true }, 'yaml', 'json'],
  [{ json: false, quiet: false }, 'tsv', 'tsv'],
  [{ quiet: true }, 'yaml', 'id'],
  [{ json: true, output: 'json' }, undefined, 'json'],
  [{ quiet: true, output: 'id' }, undefined, 'id'],
  [{ json: true, quiet: true }, undefined, 'usage'],
  [{ json: true, output: 'yaml' }, undefined, 'usage'],
  [{ quiet: true, output: 'csv' }, undefined, 'usage'],
  [{ query: 'a' }, undefined, 'json'],
  [{ query: 'a' }, 'id', 'json'],
  [{ query: 'a' }, 'jsonl', 'jsonl'],
  [{ query: 'a' }, 'tsv', 'tsv'],
  [{ query: 'a', output: 'yaml' }, 'csv', 'yaml'],
  [{ query: 'a', output: 'csv' }, undefined, 'csv'],
  [{ query: 'a', output: 'table' }, undefined, 'usage'],
  [{ query: 'a', quiet: true }, undefined, 'usage'],
])('selects for the flags %j and the variable %j the format %s', (flags, variable, expected) => {
  const env = variable === undefined ? {} : { GPUCLOUD_OUTPUT: variable };
  const found = (() => {
    try {
      return formatOf(flags, env);
    } catch (error) {
      return error instanceof CliError ? error.failure : error;
    }
  })();
  expect(found).toBe(expected);
});

test.each(['table', 'json', 'tsv', 'id'])('refuses --csv-safe with -o %s', (output) => {
  expect(() => terminalOf({ output, csvSafe: true })).toThrow('--csv-safe needs -o csv');
});

const TTY = { isTTY: true };
type Tty = { stdin?: typeof TTY; stderr?: typeof TTY; openTerminal?: undefined };

test.each<[what: string, given: Tty, flags: GlobalFlags, env: object, asks: string]>([
  ['both terminals', { stdin: TTY, stderr: TTY }, {}, {}, 'stdin stdin'],
  ['no terminal', {}, {}, {}, 'none none'],
  ['stderr in a file', { stdin: TTY }, {}, {}, 'none none'],
  ['a pipe as stdin', { stderr: TTY }, {}, {}, 'none tty'],
  ['no other terminal', { stderr: TTY, openTerminal: undefined }, {}, {}, 'none none'],
  ['--no-input', { stdin: TTY, stderr: TTY }, { input: false }, {}, 'none none'],
  ['--no-input, piped', { stderr: TTY }, { input: false }, {}, 'none none'],
  ['input: true', { stdin: TTY, stderr: TTY }, { input: true }, {}, 'stdin stdin'],
  ['CI=1', { stdin: TTY, stderr: TTY }, {}, { CI: '1' }, 'none none'],
  ['CI=', { stdin: TTY, stderr: TTY }, {}, { CI: '' }, 'stdin stdin'],
  ['CI=0', { stdin: TTY, stderr: TTY }, {}, { CI: '0' }, 'stdin stdin'],
  ['CI=false', { stdin: TTY, stderr: TTY }, {}, { CI: 'false' }, 'stdin stdin'],
  ['NO_INPUT', { stdin: TTY, stderr: TTY }, {}, { GPUCLOUD_NO_INPUT: 'yes' }, 'none none'],
])('asks where both can be seen: %s', async (_what, given, flags, env, asks) => {
  const stdin = Object.assign(new PassThrough(), given.stdin);
  const tty = Object.assign(new PassThrough(), TTY);
  const { terminal } = terminalOf(flags, {
    ...('openTerminal' in given ? {} : { openTerminal: async () => tty }),
    stdin,
    stderr: Object.assign(new Page(), given.stderr),
    env: { ...env, TERM: 'dumb' },
  });
  const asked: string[] = [];
  for (const open of [terminal.prompts, terminal.terminalPrompts]) {
    const prompts = await open();
    if (prompts === undefined) {
      asked.push('none');
      continue;
    }
    const reply = prompts.text('Name?');
    stdin.write('stdin\n');
    tty.write('tty\n');
    asked.push(await reply);
    stdin.read();
    tty.read();
  }
  expect(asked.join(' ')).toBe(asks);
});

test.each(['dumb', 'xterm'])('cancels a question at the first interrupt (%s)', async (TERM) => {
  const first = new AbortController();
  const stdin = Object.assign(new PassThrough(), TTY);
  const stderr = Object.assign(new Screen({ columns: 80 }), { isTTY: true });
  const interrupts = { first: first.signal, second: new AbortController().signal };
  const { terminal } = terminalOf({}, { stdin, stderr, interrupts, env: { TERM } });
  const prompts = await terminal.prompts();
  const asked = prompts?.text('Name?');
  await stderr.written('Name?');
  first.abort(REASONS.TERM);
  await expect(asked).rejects.toBe(REASONS.TERM);
});

const REASONS = {
  INT: new CliError('interrupted', 'Interrupted.'),
  TERM: new CliError('terminated', 'Terminated.'),
  HUP: new CliError('hungUp', 'The terminal closed.'),
  fault: new TypeError('odd'),
};

test.each<[events: string, passed: string, child?: Partial<Child>]>([
  ['start', ''],
  ['start INT', 'SIGINT'],
  ['start TERM HUP', 'SIGTERM SIGHUP'],
  ['start HUP INT', 'SIGHUP SIGINT'],
  ['start fault', 'SIGTERM'],
  ['TERM start', 'SIGTERM'],
  ['INT start INT', 'SIGINT SIGINT'],
  ['INT HUP start', 'SIGINT SIGHUP'],
  ['start INT end INT', 'SIGINT'],
  ['start end INT', ''],
  ['start fail TERM', ''],
  ['INT start INT', '', { ownSignals: true }],
])('forwards the signals of %j to a program: %j', async (events, passed, child = {}) => {
  const [first, second] = [new AbortController(), new AbortController()];
  const killed: string[] = [];
  let finish = (_how: string) => {};
  const start = async () => {
    const ended = new Promise<number>((resolve, reject) => {
      finish = (how) => (how === 'end' ? resolve(0) : reject(new Error('no program')));
    });
    return { ended, isLate: false, kill: (signal: string) => void killed.push(signal) };
  };
  const interrupts = { first: first.signal, second: second.signal };
  const { terminal } = terminalOf({}, { start, interrupts });
  const own = () =>
    [first, second].map(({ signal }) => getEventListeners(signal, 'abort').length).join();
  const before = own();
  for (const event of events.split(' ')) {
    if (event === 'start') await terminal.start({ file: 'ssh', args: [], ...child });
    else if (event in REASONS) {
      const reason = REASONS[event as keyof typeof REASONS];
      (first.signal.aborted ? second : first).abort(reason);
    } else {
      finish(event);
      await new Promise((resolve) => setImmediate(resolve));
      expect(own()).toBe(first.signal.aborted ? '0,0' : before);
    }
  }
  expect(killed.join(' ')).toBe(passed);
});

test('starts programs with the environment that they may see', async () => {
  const env = { GPUCLOUD_API_KEY: 'key', HOME: '/h', ONE: '1', TWO: '2' };
  const started: unknown[] = [];
  const start = async (program: Program) => {
    started.push(program);
    return { ended: Promise.resolve(0), isLate: false, kill: () => undefined };
  };
  const signalGroup = () => true;
  const startPiped = (...given: unknown[]) => {
    started.push(given);
    return Promise.reject(new Error('not started'));
  };
  const platform = 'darwin';
  const { terminal } = terminalOf({}, { env, start, startPiped, signalGroup, platform });
  terminal.withhold(['ONE', 'OTHER']);
  const program = { file: 'ssh', args: ['-V'] };
  await terminal.start({ ...program, env: { HOME: '/other', ONE: 'own' }, timeout: 5 });
  await terminal.start({ ...program, keepsApiKey: true, ownSignals: true });
  await terminal.startPiped({ ...program, env: {} } as never).catch(() => undefined);
  expect(started).toEqual([
    { ...program, timeout: 5, env: { HOME: '/other', ONE: 'own', TWO: '2' } },
    { ...program, env },
    [{ ...program, env: { HOME: '/h', TWO: '2' }, signalGroup }, 'darwin'],
  ]);
});
