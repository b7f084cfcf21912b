import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { ownJournal } from '../../src/instances/recover/pending.ts';
import { printEnd } from '../../src/jobs/driver.ts';
import type { JobEnd } from '../../src/jobs/end/report.ts';
import { noteEnd, noteStarted } from '../../src/jobs/end/summary.ts';
import type { RentedRecord } from '../../src/jobs/record/record.ts';
import { keep } from '../../src/jobs/stages/keep.ts';
import type { HereReport, JobReport } from '../../src/json-results/jobs.ts';
import { minuteText } from '../../src/output/time.ts';
import { zero } from '../../src/rules/money.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { jobRecord } from '../support/job-record.ts';
import { RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { ODD, ofOddName } from './odd-name.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const MINUTE = 60_000;
const NOW = Date.UTC(2026, 0, 15, 12, 0, 1);
const FETCH = { fetch: [{ remote: 'out', local: '/out', fetched_at: null }] };
const SESSION = {
  ...{ id: 'one', call: 1, maxCost: zero(), maxInstances: undefined, endsAt: 0 },
  ...{ keeps: false, ended: new AbortController().signal },
};

type Keeping = Parameters<typeof keep>[1];
const NO_KEEPING = {
  ...{ isEmpty: false, isMissing: false },
  ...{ isArmed: false, waits: false, leaves: false },
};

let world: World;
beforeEach(async () => {
  const renting = new RentingService();
  renting.rent(ID, 'box', { status: 'ACTIVE' });
  world = await createWorld({ handler: renting.handler });
});
afterEach(() => world.close());

type Session = Context['host']['session'];
const rented = (more: object, name = 'box') =>
  jobRecord({ id: ID, name, service: world.service.url }, { ...FETCH, ...more }) as RentedRecord;

/** Returns what a function prints, with each time as minutes from now. */
async function printed(
  work: (context: Context) => Promise<unknown>,
  session?: Session,
): Promise<string> {
  const { context, stderr } = atTerminal(world, []);
  const own = { ...context, host: { ...context.host, session } } as Context;
  const shielded = (inner: (own: Context) => Promise<unknown>) => inner(own);
  await work(Object.assign(own, { shielded }));
  return [10, 30, 60, 90].reduce(
    (text, minutes) => text.replaceAll(minuteText(NOW + minutes * MINUTE), `+${minutes} min`),
    stderr(),
  );
}

const setEnd = async (minutes: number | undefined, { context } = atTerminal(world, [])) =>
  (await ownJournal(context)).withDeadline(ID, (held) =>
    held.set(
      'box',
      minutes === undefined ? {} : { deadline: new Date(NOW + minutes * MINUTE).toISOString() },
    ),
  );
const end = async ({ context } = atTerminal(world, [])) => {
  const { deadline } = await (await ownJournal(context)).ends(ID);
  return deadline == null ? null : Math.round((Date.parse(deadline) - NOW) / MINUTE);
};
const arm = () => world.cli(['instances', 'reap', '--every', '30m'], { isAlive: () => true });

/** Says both names, whose words must not differ otherwise. */
async function ofBothNames(
  more: object,
  work: (record: RentedRecord, context: Context) => Promise<unknown>,
  session?: Session,
): Promise<string> {
  const text = await printed((context) => work(rented(more), context), session);
  const odd = await printed((context) => work(rented(more, ODD), context), session);
  expect(odd).toBe(ofOddName(text, 'box', ID));
  return text;
}

test('says why an instance is kept, until when it bills, and what ends it', async () => {
  const how: Keeping = { ...NO_KEEPING, why: 'command' };
  const results: Keeping = { ...NO_KEEPING, why: 'results' };
  const missing = { ...results, isMissing: true };
  const rows: [string, Keeping, object?, Session?][] = [
    ['armed', { ...how, isArmed: true }],
    ['for an hour', { ...how, isArmed: true }, { keep_on_failure: 60 * MINUTE }],
    ['run waits', { ...how, waits: true }],
    ['attach waits', { ...how, waits: true, leaves: true }],
    ['an agent waits', { ...how, waits: true, leaves: true }, {}, SESSION],
    ['an agent keeps', { ...how, waits: true, leaves: true }, {}, { ...SESSION, keeps: true }],
    ['nobody waits', how],
    ['folder gone', { ...results, isArmed: true, isEmpty: true, isMissing: true }],
    ['results', { ...results, isArmed: true }],
    ['output', { ...results, isArmed: true }, { fetch: [] }],
    ['run waits for results', { ...results, waits: true }],
    ['wrong path', { ...missing, isArmed: true }],
    ['run waits, wrong path', { ...missing, waits: true }],
  ];
  const lines: string[] = [];
  for (const [what, given, more = {}, session] of rows) {
    await setEnd(90);
    const text = await ofBothNames(more, (record, own) => keep(record, given, own), session);
    lines.push(`${what} (+${await end()} min): ${text.trim()}`);
  }
  await world.service.close();
  const text = await ofBothNames({}, (record, own) => keep(record, results, own));
  lines.push(text.trim().replace(/gpucloud could not .*?\. /, ''));
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "armed (+30 min): warning: Kept box: it bills until +30 min. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    for an hour (+60 min): warning: Kept box: it bills until +60 min. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    run waits (+30 min): warning: Kept box: it bills until +30 min. Nothing else terminates it then, so gpucloud waits and terminates it. Ctrl-C terminates it now. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    attach waits (+30 min): warning: Kept box: it bills until +30 min. Nothing else terminates it then, so gpucloud waits and terminates it. Ctrl-C leaves it, and it bills on. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    an agent waits (+30 min): warning: Kept box: it bills until +30 min. Nothing else terminates it then, so gpucloud waits and terminates it. Ctrl-C leaves it until the session ends. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    an agent keeps (+30 min): warning: Kept box: it bills until +30 min. Nothing else terminates it then, so gpucloud waits and terminates it. Ctrl-C leaves it, and it bills on. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    nobody waits (+30 min): warning: Kept box: it bills until you terminate it; its deadline passes at +30 min and nothing enforces it. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    folder gone (+30 min): warning: Kept box, although its job's folder is gone, so that you can look for the results: it bills until +30 min. Connect: gpucloud instances ssh box. Terminate it: gpucloud jobs stop box
    results (+30 min): warning: Kept box with its results: it bills until +30 min. Fix the cause, then fetch and terminate: gpucloud jobs attach box. Connect: gpucloud instances ssh box
    output (+30 min): warning: Kept box with its output: it bills until +30 min. Fix the cause, then fetch and terminate: gpucloud jobs attach box. Connect: gpucloud instances ssh box
    run waits for results (+30 min): warning: Kept box with its results: it bills until +30 min. Nothing else terminates it then, so gpucloud waits, tries again every minute and terminates it. Ctrl-C terminates it now. Fix the cause while gpucloud waits. Connect: gpucloud instances ssh box
    wrong path (+30 min): warning: Kept box: it bills until +30 min. A path of --fetch is missing there. To see what is there: gpucloud instances ssh box -- ls gpucloud-run/work; copy it and terminate the instance: gpucloud jobs attach box --fetch PATH; give the results up: gpucloud jobs stop box --no-fetch
    run waits, wrong path (+30 min): warning: Kept box: it bills until +30 min. Nothing else terminates it then, so gpucloud waits, tries again every minute and terminates it. Ctrl-C terminates it now. A path of --fetch is missing there. To see what is there: gpucloud instances ssh box -- ls gpucloud-run/work; copy it: gpucloud instances scp -r box:gpucloud-run/work/PATH .; then terminate it: gpucloud jobs stop box --no-fetch
    warning: Kept box with its results until its old deadline, since no other could be set for box: Could not reach the service: connection refused. No changes made. Fix the cause, then fetch and terminate: gpucloud jobs attach box. Connect: gpucloud instances ssh box"
  `);
});

test.each([
  [29, 29],
  [30, 30],
  [31, 30],
  [undefined, 30],
])('keeps an instance that ends in %s min for %i min', async (before, after) => {
  await setEnd(before);
  const how = { ...NO_KEEPING, why: 'results', isArmed: true } as const;
  await printed((own) => keep(rented({}), how, own));
  expect(await end()).toBe(after);
});

test('says what ends a detached job, and how to see it', async () => {
  const rows: [string, object, Session?][] = [
    ['a job', { grace: 2 * MINUTE }],
    ['a job without --fetch', { fetch: [] }],
    ['--on', { on: true }],
    ['--on without --fetch', { on: true, fetch: [] }],
    ['an agent', {}, SESSION],
    ['an agent whose instances run on', {}, { ...SESSION, keeps: true }],
  ];
  const lines: string[] = [];
  const add = async (what: string, more: object, session?: Session) =>
    lines.push(`${what}: ${(await ofBothNames(more, noteStarted, session)).trim()}`);
  await setEnd(60);
  for (const row of rows) await add(...row);
  await arm();
  lines.push('With a schedule:');
  await add('a job', { grace: 2 * MINUTE });
  await add('kept for an hour', { keep_on_failure: 60 * MINUTE });
  await add('never kept', { keep_on_failure: 0 });
  await add('a job without --fetch', { fetch: [] });
  await add('an agent', {}, SESSION);
  await setEnd(undefined);
  await add('no deadline', {});
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "a job: warning: Even after its command exits, box bills until you terminate it; its deadline passes at +60 min and nothing enforces it. To follow the job and terminate the instance: gpucloud jobs attach box
    a job without --fetch: warning: Even after its command exits, box bills until you terminate it; its deadline passes at +60 min and nothing enforces it. Without --fetch, its files are deleted with it. To copy some: gpucloud jobs attach box --fetch PATH. To follow the job and terminate the instance: gpucloud jobs attach box
    --on: The command runs on box. See its output: gpucloud jobs logs box. To follow the job and copy its results: gpucloud jobs attach box. box keeps billing after the command exits.
    --on without --fetch: The command runs on box. See its output: gpucloud jobs logs box. To follow the job and copy its output: gpucloud jobs attach box. box keeps billing after the command exits.
    an agent: warning: When the command exits, the session fetches the results and terminates box. The instance bills until then, at the latest until +60 min. If a path of --fetch is missing then, box is kept for 30 min. See its output: gpucloud jobs logs box
    an agent whose instances run on: warning: Even after its command exits, box bills until you terminate it; its deadline passes at +60 min and nothing enforces it. To follow the job and terminate the instance: gpucloud jobs attach box
    With a schedule:
    a job: warning: When the command exits, "instances reap" fetches the results and terminates box. The instance bills until then, at the latest until +60 min. It interrupts the command 2 min before the deadline (--grace). If a path of --fetch is missing then, box is kept for 30 min. See its output: gpucloud jobs logs box
    kept for an hour: warning: When the command exits, "instances reap" fetches the results and terminates box. The instance bills until then, at the latest until +60 min. If a path of --fetch is missing then, box is kept for 1 h. See its output: gpucloud jobs logs box
    never kept: warning: When the command exits, "instances reap" fetches the results and terminates box. The instance bills until then, at the latest until +60 min. See its output: gpucloud jobs logs box
    a job without --fetch: warning: When the command exits, "instances reap" fetches the output and terminates box. The instance bills until then, at the latest until +60 min. Without --fetch, its files are deleted with it. To copy some: gpucloud jobs attach box --fetch PATH. See its output: gpucloud jobs logs box
    an agent: warning: When the command exits, "instances reap" fetches the results and terminates box. The instance bills until then, at the latest until +60 min. If a path of --fetch is missing then, box is kept for 30 min. See its output: gpucloud jobs logs box
    no deadline: warning: When the command exits, "instances reap" fetches the results and terminates box. The instance bills until then, at the latest until its deadline. If a path of --fetch is missing then, box is kept for 30 min. See its output: gpucloud jobs logs box"
  `);
});

const EXITS: readonly [number | null, ...string[]][] = [
  [0, 'true'],
  [1, 'python train.py'],
  [127, 'python train.py'],
  [126, './train me'],
  [127, 'conda', 'run'],
  [126, './train.sh'],
  [null, 'true me'],
];

test('says how a run ended', async () => {
  const phases = { renting: 12, copying: null, setup: null, running: 185, fetching: 2 };
  const one = {
    cost: '0.35',
    cost_at_most: '89.90',
    phases,
    gpu: null,
    fetched: ['/out', resolve('here/log'), resolve('.')],
  };
  const report: JobReport = {
    ...{ command_exit_code: 3, stage: 'done' as const, instance: { id: ID, name: 'box' } },
    ...{ terminated: true, seconds: 200, exit_code: 3, error: null, ...one },
  };
  const member = { id: ID, terminated: true, error: null, ...one } as const;
  const here: HereReport = {
    ...{ ...report, command_exit_code: 127, fetched: [], exit_code: 127 },
    instances: [
      { ...member, name: 'box-1' },
      { ...member, name: 'box-2', cost: null },
      { ...member, name: 'box-3', terminated: false, cost: '7.00' },
    ],
  };
  const rows: [string, JobReport | HereReport, ...string[]][] = [
    ['terminated', report, 'python', 'train.py'],
    ['kept', { ...report, terminated: false, fetched: [] }, 'true'],
    ['in doubt', { ...report, terminated: 'unknown', fetched: [] }, 'true'],
    ['nothing rented', { ...report, command_exit_code: null, instance: null, fetched: [] }, 'true'],
    ['--here', here, 'python train.py'],
    ['one of --here', { ...here, instances: here.instances.slice(0, 1) }, 'true'],
    ...EXITS.map(([command_exit_code, ...command]): [string, JobReport, ...string[]] => [
      `${command_exit_code}`,
      { ...report, instance: null, fetched: [], command_exit_code },
      ...command,
    ]),
  ];
  const lines: string[] = [];
  for (const [what, given, ...command] of rows)
    lines.push(`${what}:\n${await printed((own) => noteEnd(command, given, own))}`);
  expect(lines.join('').replace(resolve('.'), 'HERE')).toMatchInlineSnapshot(`
    "terminated:
    python train.py: exit code 3
    Fetched /out, here/log, HERE
    Terminated box after 3 min.
    It cost 0.35 ₽: 12 s renting, 3 min running, 2 s fetching.
    kept:
    true: exit code 3
    It cost 0.35 ₽: 12 s renting, 3 min running, 2 s fetching.
    in doubt:
    true: exit code 3
    nothing rented:
    --here:
    'python train.py': exit code 127
    Terminated box-1 and box-2 after 3 min.
    They cost at most 90.25 ₽: box-1 0.35 ₽, box-2 at most 89.90 ₽.
    one of --here:
    true: exit code 127
    Terminated box-1 after 3 min.
    It cost 0.35 ₽: 12 s renting, 3 min running, 2 s fetching.
    0:
    true: exit code 0
    1:
    'python train.py': exit code 1
    127:
    'python train.py': exit code 127
    COMMAND is one word, so it was run as a file. To run a command line: -- sh -c 'python train.py'
    126:
    './train me': exit code 126
    COMMAND is one word, so it was run as a file. To run a command line: -- sh -c './train me'
    127:
    conda run: exit code 127
    Exit code 127: a program was not found. The command runs without a login shell, which may set another PATH: try -- bash -lc '...'
    126:
    ./train.sh: exit code 126
    Exit code 126: a file could not be executed. Check its mode (chmod +x) and its first line.
    null:
    "
  `);
});

test('prints the end of a job, and exits with the exit code of its command or its error', async () => {
  const end: JobEnd = {
    ...{ command_exit_code: 3, stage: 'done', instance: { id: ID, name: 'box' }, gpu: null },
    ...{ terminated: true, fetched: [], cost: '0.35', cost_at_most: '89.90', phases: null },
    error: undefined,
  };
  const kept = { ...end, terminated: false, cost: null, cost_at_most: null } as const;
  const error = new CliError('runFailed', 'The setup failed.');
  const setup = { ...end, command_exit_code: null, stage: 'setup', error } as const;
  const unread = new CliError('storage', 'stdout is full.');
  const gone = { seen: { kind: 'gone', isOver: true } } as const;
  const rows: [string, JobEnd, { on?: boolean; by?: 'stop' }?, CliError[]?][] = [
    ['terminated', end],
    ['terminated of --on', end, { on: true }],
    ['kept', kept],
    ['--on', kept, { on: true }],
    ['--on, of an odd name', { ...kept, instance: { id: ID, name: ODD } }, { on: true }],
    ['--on, unfinished', { ...kept, isOver: false }, { on: true }],
    ['--on, gone', kept, { on: true, ...gone }],
    ['--on, without an ID', { ...kept, instance: { id: null, name: 'box' } }, { on: true }],
    ['failed setup', setup],
    ['failed setup at jobs stop', setup, { by: 'stop' }],
    ['failed at jobs stop', { ...setup, stage: 'fetching' }, { by: 'stop' }],
    ['unread', end, {}, [unread]],
    ['failed and unread', setup, {}, [unread]],
    ['failed setup at jobs stop, unread', setup, { by: 'stop' }, [unread]],
  ];
  const lines: string[] = [];
  for (const [what, given, { on = false, ...more } = {}, faults = []] of rows) {
    let how = '';
    const text = await printed(async (own) => {
      const ended: number[] = [];
      Object.assign(own, { endWith: (code: number) => ended.push(code) });
      how = await printEnd(given, { record: rented({ on }), ...more }, own, [...faults]).then(
        () => `exit ${ended}`,
        (fault: CliError) => `${fault.exitCode} ${fault.message}`,
      );
    });
    lines.push(`${what}: ${how}\n${text}`);
  }
  expect(lines.join('')).toMatchInlineSnapshot(`
    "terminated: exit 3
    true: exit code 3
    Terminated box after 12 h.
    It cost 0.35 ₽.
    terminated of --on: exit 3
    true: exit code 3
    Terminated box after 12 h.
    It cost 0.35 ₽.
    kept: exit 3
    true: exit code 3
    --on: exit 3
    true: exit code 3
    box keeps running and billing. To terminate it: gpucloud instances terminate box
    --on, of an odd name: exit 3
    true: exit code 3
    my box keeps running and billing. To terminate it: gpucloud instances terminate 3f0c5d9e-1111-4222-8333-444455556666
    --on, unfinished: exit 3
    true: exit code 3
    --on, gone: exit 3
    true: exit code 3
    --on, without an ID: exit 3
    true: exit code 3
    failed setup: 125 The setup failed.
    Terminated box after 12 h.
    It cost 0.35 ₽.
    failed setup at jobs stop: exit 125
    Terminated box after 12 h.
    It cost 0.35 ₽.
    failed at jobs stop: 125 The setup failed.
    Terminated box after 12 h.
    It cost 0.35 ₽.
    unread: 9 stdout is full.
    true: exit code 3
    Terminated box after 12 h.
    It cost 0.35 ₽.
    failed and unread: 125 The setup failed.
    Terminated box after 12 h.
    It cost 0.35 ₽.
    failed setup at jobs stop, unread: 9 stdout is full.
    Terminated box after 12 h.
    It cost 0.35 ₽.
    "
  `);
});
