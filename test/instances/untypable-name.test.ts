import { beforeEach, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { type CliOptions, createWorld, type World } from '../support/run-cli.ts';
import { type Answer, no, ok } from '../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const TWO = '4f0c5d9e-1111-4222-8333-444455556666';

let world: World;
/** What the service answers to a POST and to a GET of an instance. */
let post: () => Answer | 'hangUp' | Promise<Answer>;
let shown: object;
/** The answers to the next reads of an instance. */
let reads: (Answer | undefined)[];
beforeEach(async () => {
  post = () => no(409, 'No');
  shown = {};
  reads = [];
  world = await createWorld({
    handler: ({ method, path }) => {
      const id = path.split('/')[2];
      if (id !== ID && id !== TWO) return ok(path === '/users/me' ? { id: 'user-1' } : []);
      if (method === 'POST') return post();
      return (
        reads.shift() ?? ok({ id, name: `box ${id === ID ? 1 : 2}`, status: 'ACTIVE', ...shown })
      );
    },
  });
  await world.cli(['instances', 'track', ID]);
});

/** Runs a command, which never prints a command with the name, since nobody could type it. */
async function run(argv: readonly string[], stdin = '', more: CliOptions = {}) {
  const { stdout, stderr } = await world.cli(['instances', ...argv], { stdin, ...more });
  const typed = (stdout + stderr).match(/gpucloud [^\n]* box [12]/g);
  expect(typed).toBe(null);
}

const CHANGES = [['start', '-y'], ['stop'], ['terminate', '-y']] as const;
const STATUSES = [
  'ACTIVE',
  'STARTING',
  'STOPPING',
  'STOPPED',
  'ERROR',
  'TERMINATING',
  'TERMINATED',
];

test.each(STATUSES)('a refused change of an instance in %s', async (status) => {
  shown = { status };
  for (const [verb, ...flags] of CHANGES) await run([verb, ID, ...flags]);
});

test.each([
  ['an answer with another status', () => ok({ status: 'ERROR' }), 'ERROR'],
  ['an answer with the status before', () => ok({ status: 'PROVISIONING' }), 'PROVISIONING'],
  ['a fault of the service', () => no(500, 'No'), 'STOPPED'],
  ['no answer', () => 'hangUp' as const, 'STOPPED'],
])('a change with %s', async (_what, answer, status) => {
  shown = { status };
  post = answer;
  for (const [verb, ...flags] of CHANGES) await run([verb, ID, ...flags]);
});

const BUSY = { ...no(429, 'busy'), headers: { 'retry-after': '20' } };
test.each([
  ['a refusal', () => no(409, 'No')],
  ['an answer with another status', () => ok({ status: 'ERROR' })],
  ['a fault of the service', () => no(500, 'No')],
  ['no answer', () => 'hangUp' as const],
])('a change with %s, after which the instance is soon read', async (_what, answer) => {
  shown = { status: 'STOPPED', paid_until: '2026-01-15T13:00:00Z' };
  for (const verb of ['start', 'stop']) {
    post = () => {
      reads = [BUSY];
      return answer();
    };
    await run([verb, ID, ...(verb === 'start' ? ['-y'] : [])]);
    reads = [];
  }
});

test.each([1, 2])('Ctrl-C, %i times, while the service starts the instance', async (times) => {
  const [first, second] = [new AbortController(), new AbortController()];
  const interrupts = { first: first.signal, second: second.signal };
  let answer: (given: Answer) => void = () => undefined;
  post = () => {
    first.abort(new CliError('interrupted', 'Interrupted.'));
    if (times === 1) return ok({ status: 'STARTING' });
    second.abort(new CliError('interrupted', 'Interrupted again.'));
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  shown = { status: 'STOPPED' };
  await run(['start', ID, '-y'], '', { interrupts });
  answer(ok({ status: 'STARTING' }));
});

test.each(['ACTIVE', 'STOPPED', 'ERROR'])('commands for an instance in %s', async (status) => {
  shown = { status, price_per_hour_snapshot: '9', ip_address: '192.0.2.1', ssh_port: 22 };
  await run(['expire', ID, '--after', '1h', '--rescue', 'none']);
  await run(['wait', ID, '--for', 'stopped', '--wait-timeout', '2s']);
  for (const verb of ['get', 'ssh', 'endpoints', 'secrets', 'rescue']) await run([verb, ID]);
});

test.each([
  ['a refused key', [no(401, 'No')]],
  ['a long pause', [{ ...no(429, 'busy'), headers: { 'retry-after': '9999' } }]],
  ['an outage', [...Array(3).fill(no(503, 'No')), ok({ id: ID, status: 'STOPPED' })]],
])('a wait with %s', async (_what, answers) => {
  reads = [undefined, ...answers];
  await run(['wait', ID, '--for', 'stopped']);
});

test('several instances', async () => {
  await world.cli(['instances', 'track', TWO]);
  for (const [verb, ...flags] of CHANGES) await run([verb, ID, TWO, ...flags]);
  await run(['expire', ID, TWO, '--if-idle', '45m']);
});

test('what another computer hands over', async () => {
  const ends = { ends_at: '2026-01-16T12:00:00Z', if_idle_seconds: 60 };
  const row = { id: TWO, name: 'box 2', ...ends, has_job: true, rescue: [{ remote: 'a' }] };
  await run(['track', '-'], JSON.stringify([row, { id: null, name: 'box 1' }]));
  await run(['expire', TWO, '--after', '1h', '--if-idle', '20m']);
  await run(['track', '-'], JSON.stringify([row]));
});
