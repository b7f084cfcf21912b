import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { answersSsh } from '../../../src/watch/ssh.ts';
import { manualClock } from '../../support/clock.ts';
import {
  createSandboxWorld,
  createWorld,
  type SandboxWorld,
  type World,
} from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import type { Answer } from '../../support/service.ts';
import { ok } from '../../support/service.ts';
import { errorOf, warningsOf } from '../../support/stderr-lines.ts';

/** Ids are UUIDs (API document: Instance). */
const boxId = (at: number) => `b0000000-0000-4000-8000-${String(at).padStart(12, '0')}`;

let world: SandboxWorld;

beforeEach(async () => {
  world = await createSandboxWorld();
});
afterEach(() => world.close());

async function rent(name: string): Promise<string> {
  const { stdout } = await world.cli(['instances', 'create', name, ...HARDWARE, '--wait', '-q']);
  return stdout.trim();
}

describe.each([
  ['terminate', 'terminated', 'TERMINATING'],
  ['stop', 'stopped', 'STOPPING'],
])('%s that is answered 200 with the status ACTIVE', (verb, done, onTheWay) => {
  const answering = async (status: string) => {
    const data = { id: boxId(1), name: 'box', status };
    const near = await createWorld({
      handler: ({ method }): Answer => ok(method === 'POST' ? { status: 'ACTIVE' } : data),
    });
    const argv = ['instances', verb, boxId(1), '--yes', '--json'];
    const result = await near.cli(argv).finally(() => near.close());
    return { ...result, posts: result.requests.filter(({ method }) => method === 'POST').length };
  };

  test('is exit 12, and may be billing, if the instance stays ACTIVE', async () => {
    const { code, stderr, posts } = await answering('ACTIVE');
    expect({ code, posts }).toEqual({ code: 12, posts: 1 });
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({
      message: `The service accepted the request, but ${boxId(1)} was not ${done}: its status is ACTIVE.`,
      may_be_billing: true,
      hint: `try again: gpucloud instances ${verb} ${boxId(1)}`,
    });
  });

  test('is exit 0 if the instance is on the way by then', async () => {
    const { code, stdout } = await answering(onTheWay);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ id: boxId(1), status: onTheWay }]);
  });
});

describe('instances stop and start', () => {
  test('stop asks the service and prints a line for the machine', async () => {
    const id = await rent('trainer');
    const { code, stdout, requests } = await world.cli([
      'instances',
      'stop',
      'trainer',
      '-o',
      'csv',
    ]);
    expect(code).toBe(0);
    expect(stdout).toBe(`name,id,status,paid_until\r\ntrainer,${id},STOPPING,\r\n`);
    expect(requests).toMatchObject([
      { method: 'POST', path: `/instances/${id}/stop`, body: undefined },
    ]);
  });

  test('--wait reads until the status is there', async () => {
    await rent('trainer');
    const stopped = await world.cli(['instances', 'stop', 'trainer', '--wait', '--json']);
    expect(JSON.parse(stopped.stdout)).toMatchObject([{ name: 'trainer', status: 'STOPPED' }]);
    const started = await world.cli(['instances', 'start', 'trainer', '--wait', '--json']);
    expect(JSON.parse(started.stdout)).toMatchObject([
      { name: 'trainer', status: 'ACTIVE', paid_until: expect.any(String) },
    ]);
  });

  test('several machines get a line each, and one failure stops no other', async () => {
    const a = await rent('box-a');
    const b = await rent('box-b');
    await world.cli(['instances', 'terminate', 'box-a', '-y', '--wait']);
    const { code, stdout, stderr } = await world.cli([
      'instances',
      'stop',
      'box-a',
      'box-b',
      'box-a',
      '--json',
    ]);

    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toEqual([{ id: b, name: 'box-b', status: 'STOPPING' }]);
    expect(errorOf(stderr)).toMatchObject({
      code: 'wrong_state',
      http_status: 400,
      resource: a,
    });
  });

  test('stop of a machine that stops, or is stopped, is no error', async () => {
    await rent('trainer');
    await world.cli(['instances', 'stop', 'trainer']);
    const going = await world.cli(['instances', 'stop', 'trainer', '--wait', '--json']);
    expect(going.code).toBe(0);
    expect(JSON.parse(going.stdout)).toMatchObject([{ name: 'trainer', status: 'STOPPED' }]);
    const over = await world.cli(['instances', 'stop', 'trainer']);
    expect({ code: over.code, stderr: over.stderr }).toEqual({
      code: 0,
      stderr: 'trainer is STOPPED already.\n',
    });
  });

  test('two failures are two lines for people and one object for scripts', async () => {
    const people = await world.cli(['instances', 'stop', 'no-such-a', 'no-such-b']);
    expect(people.code).toBe(3);
    expect(people.stdout).toBe('');
    expect(people.stderr.split('\n').filter((line) => line.startsWith('error: '))).toHaveLength(2);
    const scripts = await world.cli(['instances', 'stop', 'no-such-a', 'no-such-b', '--json']);
    expect(scripts.stdout).toBe('');
    expect(errorOf(scripts.stderr).errors).toHaveLength(2);
  });

  test('start of a running machine is exit 5 and tells its status', async () => {
    await rent('trainer');
    const { code, stderr } = await world.cli(['instances', 'start', 'trainer']);
    expect(code).toBe(5);
    expect(stderr).toMatch(/^error: .* is ACTIVE; only a STOPPED one can be started\.\n/);
    expect(stderr).not.toContain('reserves');
  });

  test('start without funds is exit 5 and says that it is the money', async () => {
    await world.sandbox.reset({ balance: '100.00' });
    await rent('trainer');
    await world.cli(['instances', 'stop', 'trainer', '--wait']);
    await rent('eater');
    const { code, stderr } = await world.cli(['instances', 'start', 'trainer']);
    expect(code).toBe(5);
    expect(stderr).toMatch(/funds/);
  });

  test('a stop that the provider refuses twice leaves the machine running and says so', async () => {
    const id = await rent('trainer');
    await world.sandbox.inject('fail-stop');
    await world.sandbox.inject('fail-stop');
    const { code, stderr } = await world.cli(['instances', 'stop', 'trainer', '--json']);
    expect(code).toBe(1);
    expect(errorOf(stderr)).toMatchObject({ http_status: 500, retryable: true });
    const { stdout } = await world.cli(['instances', 'get', id, '--json']);
    expect(JSON.parse(stdout).status).toBe('ACTIVE');
  });

  test('a stop that the provider refuses once is asked for again', async () => {
    const id = await rent('trainer');
    await world.sandbox.inject('fail-stop');
    const { code, requests } = await world.cli(['instances', 'stop', 'trainer']);
    expect(code).toBe(0);
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST /instances/${id}/stop`,
      `GET /instances/${id}`,
      `POST /instances/${id}/stop`,
    ]);
  });

  test('a start that fails is never sent twice', async () => {
    await rent('trainer');
    await world.cli(['instances', 'stop', 'trainer', '--wait']);
    await world.sandbox.inject('fail-start');
    const { code, requests, stderr } = await world.cli(['instances', 'start', 'trainer']);
    expect(code).toBe(1);
    expect(stderr).toContain('STOPPED');
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

describe('instances terminate', () => {
  test('asks for every machine before it waits for any', async () => {
    await world.sandbox.reset({ balance: '1000.00' });
    const names = Array.from({ length: 6 }, (_, at) => `box-${at}`);
    for (const name of names) await world.cli(['instances', 'create', name, ...HARDWARE]);
    const { code, requests } = await world.cli([
      'instances',
      'terminate',
      ...names,
      '-y',
      '--wait',
    ]);
    expect(code).toBe(0);
    const methods = requests.map(({ method }) => method);
    expect(methods.filter((method) => method === 'POST')).toHaveLength(6);
    expect(methods.lastIndexOf('POST')).toBeLessThan(methods.indexOf('GET'));
  });

  test('an interrupt says which machines were not asked for', async () => {
    await rent('trainer');
    const interrupt = new AbortController();
    interrupt.abort(new CliError('interrupted', 'Interrupted.'));
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    const { code, stderr, requests } = await world.cli(
      ['instances', 'terminate', 'trainer', '-y'],
      { interrupts },
    );
    expect({ code, requests }).toEqual({ code: 130, requests: [] });
    expect(stderr).toContain('was not terminated: nothing was sent, and it goes on as it was.');
  });

  test('--yes ends a machine by its id although the journal can not be read', async () => {
    const id = await rent('trainer');
    const journal = join(world.home, 'state', 'journal');
    await rm(journal, { recursive: true });
    await writeFile(journal, '');
    const { code, stdout } = await world.cli(['instances', 'terminate', id, '-y', '-q']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` });
  });

  test('off a terminal wants --yes before any request', async () => {
    const id = await rent('trainer');
    const { code, stdout, stderr, requests } = await world.cli([
      'instances',
      'terminate',
      'trainer',
    ]);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stderr).toContain(
      `add --yes (Terminate trainer (${id}, 89.90 RUB an hour) with all data on its disk?)`,
    );
  });

  test('--yes --wait ends the machine', async () => {
    await rent('trainer');
    const { code, stdout } = await world.cli([
      'instances',
      'terminate',
      'trainer',
      '-y',
      '--wait',
      '--json',
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'trainer', status: 'TERMINATED' }]);
    expect((await world.cli(['instances', 'list', '-q'])).stdout).toBe('');
    expect((await world.cli(['instances', 'list', '-q', '--all'])).stdout).not.toBe('');
  });

  test('a machine that is on its way out, or was terminated, is so already: exit 0', async () => {
    const id = await rent('trainer');
    await world.cli(['instances', 'terminate', 'trainer', '-y']);
    const going = await world.cli(['instances', 'terminate', 'trainer', '-y', '-o', 'csv']);
    expect(going).toMatchObject({
      code: 0,
      stdout: `name,id,status,paid_until\r\ntrainer,${id},TERMINATING,\r\n`,
      stderr: `warning: trainer is TERMINATING already, which is not over yet: where the service fails to terminate it, it goes back to what it was, and is billed on. To make sure: gpucloud instances wait ${id} --for terminated\n`,
    });
    const waited = await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait', '--json']);
    expect(JSON.parse(waited.stdout)).toMatchObject([{ id, status: 'TERMINATED' }]);
    expect(waited.stderr).toBe('');
    const over = await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait']);
    expect({ code: over.code, stderr: over.stderr }).toEqual({
      code: 0,
      stderr: 'trainer is TERMINATED already.\n',
    });
    expect(over.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('an answer in a terminal decides', async () => {
    await rent('trainer');
    const refused = await world.cli(['instances', 'terminate', 'trainer'], {
      terminal: true,
      columns: 300,
      stdin: 'n\n',
    });
    expect(refused.code).toBe(130);
    expect(refused.requests.map(({ method }) => method)).toEqual(['GET']);
    expect(refused.stderr).toMatch(
      /trainer: ACTIVE, 89\.90 RUB an hour, rented \d s ago; about 89\.8\d RUB come back for the 59 min that are left of its hour\.\n/,
    );
    const agreed = await world.cli(['instances', 'terminate', 'trainer'], {
      terminal: true,
      stdin: 'y\n',
    });
    expect(agreed.code).toBe(0);
  });

  test('--no-input and CI forbid the question', async () => {
    await rent('trainer');
    const quiet = await world.cli(['instances', 'terminate', 'trainer', '--no-input'], {
      terminal: true,
      stdin: 'y\n',
    });
    expect(quiet.code).toBe(2);
    const ci = await world.cli(['instances', 'terminate', 'trainer'], {
      terminal: true,
      stdin: 'y\n',
      env: { CI: 'true' },
    });
    expect(ci.code).toBe(2);
  });
});

describe('a change that is refused', () => {
  const ID = '11111111-1111-4111-8111-111111111111';
  let near: World;
  afterEach(() => near.close());

  /** Each POST is refused; readings are the given statuses in turn, the last of them from then on. */
  async function refusing(...readings: (string | (() => Answer))[]) {
    near = await createWorld({
      handler({ method }) {
        if (method === 'POST') {
          return { status: 409, body: { statusCode: 409, message: 'no', error: 'Conflict' } };
        }
        const read = readings.length > 1 ? readings.shift() : readings[0];
        if (typeof read === 'function') return read();
        const data = { id: ID, name: 'ubox', status: read };
        return ok(data);
      },
    });
  }
  const terminate = ['instances', 'terminate', ID, '-y', '--json'];
  const stop = ['instances', 'stop', ID, '--json'];

  test.each([
    [terminate, 'TERMINATING', 'terminated'],
    [stop, 'STOPPING', 'stopped'],
  ])(
    '%j on its way there is exit 0, and warns in JSON that it may come back',
    async (argv, status, goal) => {
      await refusing(status, 'ACTIVE');
      const { code, stdout, stderr } = await near.cli(argv);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject([{ id: ID, status }]);
      expect(warningsOf(stderr)).toEqual([
        expect.stringContaining(`To make sure: gpucloud instances wait ${ID} --for ${goal}`),
      ]);
    },
  );

  test.each([
    [503, 'ACTIVE', true],
    [429, 'ACTIVE', true],
    [403, 'ACTIVE', true],
    [404, 'ACTIVE', true],
    [403, 'TERMINATED', false],
    [404, undefined, false],
  ])(
    'HTTP %i for an instance last read as %s: may be billing is %s',
    async (status, last, billing) => {
      near = await createWorld({
        handler: ({ method }) =>
          method === 'POST'
            ? { status, body: { statusCode: status, message: 'no', error: 'No' } }
            : ok({ id: ID, name: 'ubox', status: last }),
      });
      if (last !== undefined) await near.cli(['instances', 'track', ID]);
      for (const argv of [stop, terminate]) {
        const { code, stderr } = await near.cli(argv);
        expect(code).not.toBe(0);
        const error = errorOf(stderr);
        expect(error).toMatchObject({ may_be_billing: billing });
        if (status === 503)
          expect({ code, as: error.code }).toEqual({ code: 1, as: 'unavailable' });
      }
    },
  );

  test('--wait sees it come back', async () => {
    await refusing('TERMINATING', 'ACTIVE');
    const { code, stderr } = await near.cli([...terminate, '--wait']);
    expect(code).toBe(12);
    expect(errorOf(stderr)).toMatchObject({ may_be_billing: true });
    expect(warningsOf(stderr)).toEqual([]);
  });

  test.each([
    [terminate, 'ACTIVE', true, `gpucloud instances terminate ${ID}`],
    [terminate, 'STOPPED', true, `gpucloud instances terminate ${ID}`],
    [stop, 'ACTIVE', true, `gpucloud instances stop ${ID}`],
    [stop, 'STARTING', true, `gpucloud instances wait ${ID}`],
    [stop, 'ERROR', true, `gpucloud instances terminate ${ID}`],
    [stop, 'TERMINATING', false, `gpucloud instances get ${ID}`],
    [stop, 'TERMINATED', false, `gpucloud instances get ${ID}`],
  ])('%j tells that it was read as %s', async (argv, status, bills, next) => {
    await refusing(status);
    const { code, stderr } = await near.cli(argv);
    const { error } = JSON.parse(stderr);
    expect({ code, error }).toMatchObject({
      code: 5,
      error: { code: 'wrong_state', http_status: 409, resource: ID, may_be_billing: bills },
    });
    expect(error.message).toContain(`It was read as ${status} now.`);
    expect(error.hint).toContain(next);
    expect(error.hint).not.toContain('It may be terminated already');
  });

  test.each([
    ['a pause of 4 s', 4, 0],
    ['a pause of 2 s after 4 s without an answer', 2, 4000],
  ])('is not held back for %s', async (_what, pause, slow) => {
    await refusing(() => {
      near.clock.advance(slow);
      return { status: 429, headers: { 'retry-after': String(pause) }, body: {} };
    });
    const { code, stderr, requests } = await near.cli(terminate);
    expect(code).toBe(5);
    expect(errorOf(stderr)).toMatchObject({ http_status: 409, may_be_billing: true });
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
    expect(near.clock.slept).toEqual([]);
  });
});

describe('an interrupt while the key is fetched', () => {
  const ID = '11111111-1111-4111-8111-111111111111';
  const OTHER = '22222222-2222-4222-8222-222222222222';
  let near: World;
  afterEach(() => near.close());

  /** Runs it with a key that nobody gets, and interrupts the command that is to tell it. */
  async function interrupted(argv: readonly string[]) {
    near = await createWorld({ signedIn: false, handler: () => 'hangUp' });
    const asked = join(near.home, 'asked');
    const key_command = ['/bin/sh', '-c', `: > '${asked}'; exec sleep 60`];
    const profile = { base_url: near.service.url, key_command, account: { id: 'user-1' } };
    await mkdir(join(near.home, 'config'), { recursive: true, mode: 0o700 });
    await writeFile(
      join(near.home, 'config', 'config.json'),
      JSON.stringify({ version: 1, current: 'work', profiles: { work: profile } }),
      { mode: 0o600 },
    );
    const interrupt = new AbortController();
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    const running = near.cli(argv, { interrupts });
    for (let tries = 0; !existsSync(asked) && tries < 2000; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    interrupt.abort(new CliError('interrupted', 'Interrupted.'));
    const { code, stderr, requests } = await running;
    expect({ code, requests }).toEqual({ code: 130, requests: [] });
    return stderr;
  }

  test.each([
    [['terminate', 'trainer', '-y'], 'terminated'],
    [['terminate', ID, '-y'], 'terminated'],
    [['stop', 'trainer'], 'stopped'],
    [['start', ID], 'started'],
  ])('%j says that the machine goes on as it was', async (words, done) => {
    const { error } = JSON.parse(await interrupted(['instances', ...words, '--json']));
    expect(error).toMatchObject({
      code: 'interrupted',
      message: `Interrupted. ${words[1]} was not ${done}: nothing was sent, and it goes on as it was.`,
      hint: `gpucloud instances get ${words[1]}`,
      resource: words[1],
      may_be_billing: true,
    });
  });

  test('of several is one line for people', async () => {
    expect(await interrupted(['instances', 'terminate', 'trainer', ID, '-y'])).toBe(
      `Interrupted. Not terminated: trainer, ${ID}. Nothing was sent, and they go on as they were.\nhint: gpucloud instances list\n`,
    );
  });

  test('of several is an error for each of them in JSON', async () => {
    const stderr = await interrupted(['instances', 'terminate', 'trainer', ID, '-y', '--json']);
    expect(errorOf(stderr).errors).toMatchObject([
      { code: 'interrupted', resource: 'trainer', may_be_billing: true },
      { code: 'interrupted', resource: ID, may_be_billing: true },
    ]);
  });

  test('wait says that the machine is to be counted as billing', async () => {
    const { error } = JSON.parse(await interrupted(['instances', 'wait', 'trainer', '--json']));
    expect(error).toMatchObject({
      message:
        'Interrupted. Nobody waits for trainer (trainer) any more. Count it as still billing.',
      hint: expect.stringContaining('"gpucloud instances terminate trainer"'),
      may_be_billing: true,
    });
  });

  test.each([
    [['create', 'box', '--offer', ID, '--image', OTHER]],
    [['create', 'box', '--offer', ID, '--image', OTHER, '-y']],
    [['create', 'box', '--offer', ID, '--image', OTHER, '-y', '--ssh-key', 'laptop']],
    [['reorder', ID, 'box-2']],
  ])('%j says that nothing was created', async (words) => {
    const { error } = JSON.parse(await interrupted(['instances', ...words, '--json']));
    expect(error).toMatchObject({
      code: 'interrupted',
      message: 'Interrupted. Nothing was sent, so nothing was created.',
      may_be_billing: false,
    });
  });
});

describe('instances reorder', () => {
  test('rents again what a terminated machine was and tells what is left behind', async () => {
    const id = await rent('trainer');
    await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait']);
    const { code, stdout, stderr, requests } = await world.cli([
      'instances',
      'reorder',
      'trainer',
      'trainer-2',
      '--wait',
      '--json',
    ]);
    expect(code).toBe(0);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: `/instances/${id}/reorder`,
      body: { new_name: 'trainer-2' },
    });
    expect(JSON.parse(stdout)).toMatchObject({ name: 'trainer-2', status: 'ACTIVE' });
    expect(stderr).toBe('');
    const people = await world.cli(['instances', 'reorder', id, 'trainer-3']);
    expect(people.stderr).toContain('template, cloud drive, container');
  });

  test.each([
    [['reorder', 'trainer'], 'missing NEW-NAME'],
    [['reorder', 'trainer', 'x'], 'NEW-NAME "x"'],
    [['reorder', '..', 'trainer-2'], 'INSTANCE ".."'],
  ])('%j is refused before any request', async (argv, words) => {
    const { code, stderr, requests } = await world.cli(['instances', ...argv]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain(words);
  });

  test('--any-name sends a name that the rule would refuse', async () => {
    await rent('trainer');
    const { code, requests } = await world.cli([
      'instances',
      'reorder',
      'trainer',
      'x',
      '--any-name',
    ]);
    expect(code).not.toBe(2);
    expect(requests[0]?.body).toEqual({ new_name: 'x' });
  });
});

describe('instances wait', () => {
  test('waits for several machines at once', async () => {
    await world.cli(['instances', 'create', 'box-a', ...HARDWARE]);
    await world.cli(['instances', 'create', 'box-b', ...HARDWARE]);
    const { code, stdout } = await world.cli(['instances', 'wait', 'box-a', 'box-b', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ status: 'ACTIVE' }, { status: 'ACTIVE' }]);
  });

  test('another end is exit 12 with the reason', async () => {
    await world.sandbox.inject('fail-provisioning');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const { code, stderr } = await world.cli(['instances', 'wait', 'trainer']);
    expect(code).toBe(12);
    expect(stderr).toContain('will not become ACTIVE by itself: ');
    // The end of the service's log, oldest first, between the error and the hint.
    expect(stderr).toMatch(
      /^error: trainer \([0-9a-f-]{36}\): .* Count it as still billing\.\n( {2}\S+Z {2}[A-Z_]+ {2}.+\n){2,5}hint: /m,
    );
  });

  test('another end is told to scripts with the last events', async () => {
    await world.sandbox.inject('fail-provisioning');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const { code, stderr } = await world.cli(['instances', 'wait', 'trainer', '--json']);
    expect(code).toBe(12);
    const { error } = JSON.parse(stderr);
    expect(error.code).toBe('other_end');
    const log = await world.cli(['instances', 'events', 'trainer', '--limit', '5', '--json']);
    const events = (JSON.parse(log.stdout) as Record<string, unknown>[]).reverse();
    expect(error.last_events).toEqual(
      events.map(({ created_at, type, message }) => ({ created_at, type, message })),
    );
    expect(error.last_events.length).toBeGreaterThan(1);
  });

  test('create --wait tells another end in the same way', async () => {
    await world.sandbox.inject('fail-provisioning');
    const { code, stderr } = await world.cli([
      'instances',
      'create',
      'other',
      ...HARDWARE,
      '--wait',
      '--json',
    ]);
    expect(code).toBe(12);
    expect(errorOf(stderr).last_events).not.toEqual([]);
  });

  test('--wait-timeout is the deadline of the wait', async () => {
    await world.sandbox.inject('slow-provisioning');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const { code, stderr } = await world.cli([
      'instances',
      'wait',
      'trainer',
      '--wait-timeout',
      '1m',
      '--poll-interval',
      '10s',
    ]);
    expect(code).toBe(8);
    expect(stderr).toMatch(
      /^error: trainer \([0-9a-f-]{36}\): The machine is not ACTIVE after 1 min; it was last seen PROVISIONING\. Count it as still billing\.\nhint: .*"gpucloud instances terminate [0-9a-f-]{36}"\n$/m,
    );
    expect(world.clock.slept.filter((slept) => slept === 10_000)).toHaveLength(6);
  });

  test.each([
    [[], ['PROVISIONING (60 s)', 'PROVISIONING (120 s)']],
    [['--json'], []],
  ])('prints a line per minute off a terminal, none with %j', async (flags, phases) => {
    await world.sandbox.inject('slow-provisioning');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const { code, stderr } = await world.cli([
      ...['instances', 'wait', 'trainer', '--wait-timeout', '150s', '--poll-interval', '10s'],
      ...flags,
    ]);
    expect(code).toBe(8);
    const lines = stderr.split('\n').filter((line) => line.startsWith('trainer: '));
    expect(lines).toEqual(phases.map((phase) => `trainer: ${phase}`));
  });

  test('limits each request of a wait by --timeout, and goes on', async () => {
    let asked = 0;
    const near = await createWorld({
      async handler() {
        asked += 1;
        // Longer than --timeout: a real pause, since the limit of a request is a real timer.
        if (asked === 2) await new Promise((resolve) => setTimeout(resolve, 400));
        const status = asked < 3 ? 'CREATING' : 'ACTIVE';
        return {
          status: 200,
          body: { status: 'success', code: 200, data: { id: boxId(1), status } },
        };
      },
    });
    const wait = ['instances', 'wait', boxId(1), '--timeout', '100ms', '--wait-timeout', '5m'];
    const { code, stderr } = await near.cli([...wait, '-q']);
    await near.close();
    expect(code).toBe(0);
    expect(stderr).toContain('did not answer within 0.1 s');
  });

  test('a reading at the deadline decides, however long the interval is', async () => {
    await world.sandbox.inject('slow-provisioning');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const started = world.clock.now();
    const wait = ['instances', 'wait', 'trainer', '--wait-timeout', '11m', '--poll-interval', '3h'];
    expect((await world.cli(wait)).code).toBe(0);
    expect(world.clock.now() - started).toBeLessThan(12 * 60_000);
  });

  test('of a machine that is over says that it costs nothing more', async () => {
    await rent('trainer');
    await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait']);
    const { code, stderr } = await world.cli(['instances', 'wait', 'trainer', '--json']);
    expect(code).toBe(12);
    expect(errorOf(stderr)).toMatchObject({
      may_be_billing: false,
      message: expect.stringContaining(
        'will not become ACTIVE by itself. It is not billing any more.',
      ),
    });
  });

  test('any status is waited for, in either case of letters', async () => {
    await rent('trainer');
    const { code } = await world.cli(['instances', 'wait', 'trainer', '--for', 'active']);
    expect(code).toBe(0);
    const odd = await world.cli(['instances', 'wait', 'trainer', '--for', 'no/such']);
    expect(odd.code).toBe(2);
  });

  test('an interrupt says that the machine goes on billing', async () => {
    await world.sandbox.inject('slow-provisioning');
    const interrupt = new AbortController();
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    const started = world.cli(
      ['instances', 'create', 'trainer', ...HARDWARE, '--wait', '--poll-interval', '1s'],
      { interrupts },
    );
    while (world.service.requests.length < 3)
      await new Promise((resolve) => setTimeout(resolve, 5));
    interrupt.abort(new CliError('interrupted', 'Interrupted.'));
    const { code, stdout, stderr } = await started;
    expect(code).toBe(130);
    expect(stdout).toContain('trainer');
    expect(stderr).toContain('Count it as still billing.');
    expect(stderr).toMatch(/end it with "gpucloud instances terminate [0-9a-f-]{36}"/);
  });
});

describe('instances wait for machines of a service in trouble', () => {
  const machine = (id: string, status: string) => ok({ id, name: id, status });

  test('an outage is told once and waited out', async () => {
    let asked = 0;
    const near = await createWorld({
      handler: () => {
        asked += 1;
        return asked > 1 && asked < 8
          ? 'hangUp'
          : machine(boxId(1), asked > 8 ? 'ACTIVE' : 'CREATING');
      },
    });
    const { code, stdout, stderr } = await near.cli(['instances', 'wait', boxId(1), '-o', 'id']);
    await near.close();
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'b0000000-0000-4000-8000-000000000001\n' });
    expect(stderr).toMatch(
      /^warning: b0000000-0000-4000-8000-000000000001 could not be read: .+ Waiting goes on\.\nb0000000-0000-4000-8000-000000000001 can be read again: CREATING\.\n$/,
    );
  });

  /**
   * A service that refuses each machine its second reading, and wants to be left alone for so many
   * seconds: whoever comes sooner is refused for as long again.
   */
  async function strictWorld(seconds: number, end: string) {
    const clock = manualClock();
    const asked = new Map<string, number>();
    const allowedAt = new Map<string, number>();
    const early: string[] = [];
    const world = await createWorld({
      clock,
      handler({ path }) {
        const id = path.split('/')[2] ?? '';
        const count = (asked.get(id) ?? 0) + 1;
        asked.set(id, count);
        const isEarly = clock.now() < (allowedAt.get(id) ?? 0);
        if (isEarly) early.push(id);
        if (count !== 2 && !isEarly) return machine(id, count === 1 ? 'CREATING' : end);
        allowedAt.set(id, clock.now() + seconds * 1000);
        return { status: 429, headers: { 'retry-after': String(seconds) }, body: {} };
      },
    });
    return { ...world, early, asked };
  }
  const WAIT = ['instances', 'wait', boxId(1), '--poll-interval', '500ms'];
  const asks = (seconds: number) =>
    `The service takes no more requests for now (429) and asks to wait ${seconds} s (Retry-After).`;

  // The shorter one would fit into a single call, which would keep it without a word.
  test.each([120, 20])(
    'a pause of %i s that is asked for is kept in full, and told once',
    async (seconds) => {
      const strict = await strictWorld(seconds, 'ACTIVE');
      const { code, stderr, requests } = await strict.cli([...WAIT, '-o', 'id']);
      await strict.close();
      expect({ code, early: strict.early, requests: requests.length }).toEqual({
        code: 0,
        early: [],
        requests: 3,
      });
      expect(strict.clock.slept).toEqual([500, seconds * 1000]);
      expect(stderr).toBe(
        `warning: b0000000-0000-4000-8000-000000000001 could not be read: ${asks(seconds)} It is read again in ${seconds} s.\nb0000000-0000-4000-8000-000000000001 can be read again: ACTIVE.\n`,
      );
    },
  );

  test('a pause beyond the deadline ends the wait at once, with 11 and what to do', async () => {
    const strict = await strictWorld(120, 'ACTIVE');
    const { code, stdout, stderr, requests } = await strict.cli([
      ...WAIT,
      '--wait-timeout',
      '1m',
      '-q',
    ]);
    await strict.close();
    expect({ code, stdout, requests: requests.length }).toEqual({
      code: 11,
      stdout: '',
      requests: 2,
    });
    expect(stderr).toBe(
      `error: b0000000-0000-4000-8000-000000000001 (b0000000-0000-4000-8000-000000000001): ${asks(120)} It may be asked again in 120 s, and this wait would be over in 60 s; the machine was last seen CREATING. Count it as still billing.\n` +
        'hint: in 120 s, wait on with "gpucloud instances wait b0000000-0000-4000-8000-000000000001 --for active"; see it with "gpucloud instances get b0000000-0000-4000-8000-000000000001", end it with "gpucloud instances terminate b0000000-0000-4000-8000-000000000001"\n',
    );
  });

  test.each([
    [['instances', 'wait', boxId(1)], true],
    [['instances', 'terminate', boxId(1), '--yes', '--wait'], false],
  ])('%j may be run again after it: %s', async (argv, retryable) => {
    const near = await createWorld({
      handler: ({ method }) =>
        method === 'POST'
          ? machine(boxId(1), 'TERMINATING')
          : { status: 429, headers: { 'retry-after': '9999' }, body: {} },
    });
    const { code, stderr } = await near.cli([...argv, '--json']);
    await near.close();
    expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
      code: 11,
      error: { code: 'rate_limited', retryable },
    });
  });

  test('each of several keeps its own pause, and scripts learn what is billing', async () => {
    const strict = await strictWorld(120, 'CREATING');
    const argv = ['instances', 'wait', boxId(1), boxId(2), '--wait-timeout', '1m', '--json'];
    const { code, stderr } = await strict.cli(argv);
    await strict.close();
    expect({ code, early: strict.early }).toEqual({ code: 11, early: [] });
    expect(errorOf(stderr).errors).toMatchObject([
      { code: 'rate_limited', http_status: 429, resource: boxId(1), may_be_billing: true },
      { code: 'rate_limited', http_status: 429, resource: boxId(2), may_be_billing: true },
    ]);
  });

  test('twenty are awaited at once, and eight readings at most are on their way', async () => {
    let running = 0;
    let most = 0;
    const ids = Array.from({ length: 20 }, (_, at) => boxId(at));
    const near = await createWorld({
      async handler({ path }) {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
        return machine(path.split('/')[2] ?? '', path.endsWith(boxId(19)) ? 'ACTIVE' : 'CREATING');
      },
    });
    const waited = await near.cli(['instances', 'wait', ...ids, '--wait-timeout', '10s', '--json']);
    await near.close();
    expect(waited.code).toBe(8);
    // The last of them is not kept waiting by those before it.
    expect(JSON.parse(waited.stdout)).toMatchObject([{ id: boxId(19) }]);
    expect(errorOf(waited.stderr).errors).toHaveLength(19);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  test('Ctrl-C is one line for all of them, and an error for each in JSON', async () => {
    const interrupt = new AbortController();
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    let asked = 0;
    const near = await createWorld({
      handler({ path }) {
        asked += 1;
        if (asked % 5 === 0) interrupt.abort(new CliError('interrupted', 'Interrupted.'));
        const id = path.split('/')[2] ?? '';
        return machine(
          id,
          id === 'b0000000-0000-4000-8000-00000000000c' ? 'TERMINATING' : 'ACTIVE',
        );
      },
    });
    const wait = [
      'instances',
      'wait',
      'b0000000-0000-4000-8000-00000000000a',
      'b0000000-0000-4000-8000-00000000000b',
      'b0000000-0000-4000-8000-00000000000c',
      '--for',
      'terminated',
    ];
    const people = await near.cli(wait, { interrupts });
    const scripts = await near.cli([...wait, '--json'], { interrupts });
    await near.close();
    expect(people.code).toBe(130);
    expect(people.stderr).toBe(
      'Interrupted. Nobody waits for b0000000-0000-4000-8000-00000000000a (b0000000-0000-4000-8000-00000000000a), b0000000-0000-4000-8000-00000000000b (b0000000-0000-4000-8000-00000000000b), b0000000-0000-4000-8000-00000000000c (b0000000-0000-4000-8000-00000000000c) any more. Count as still billing: b0000000-0000-4000-8000-00000000000a, b0000000-0000-4000-8000-00000000000b.\n' +
        'hint: see them with "gpucloud instances list", end them with "gpucloud instances terminate b0000000-0000-4000-8000-00000000000a b0000000-0000-4000-8000-00000000000b"\n',
    );
    expect(scripts.code).toBe(130);
    expect(errorOf(scripts.stderr).errors).toHaveLength(3);
  });
});

describe('instances wait --for ssh', () => {
  test.each([
    ['a banner', 'SSH-2.0-Test\r\n', true],
    ['other lines before the banner', 'Welcome\r\nSSH-2.0-Test\r\n', true],
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n', false],
    ['nothing', '', false],
  ])('%s decides', async (_what, said, answers) => {
    const { createServer } = await import('node:net');
    const server = createServer((socket) => socket.end(said));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const place = { host: '127.0.0.1', port };
    expect(await answersSsh(place, 5_000, new AbortController().signal)).toBe(answers);
    await new Promise((resolve) => server.close(resolve));
  });

  test('an address that comes after ACTIVE is waited for, and an end meanwhile is seen', async () => {
    let asked = 0;
    const near = await createWorld({
      handler({ path }) {
        asked += 1;
        const data = path.includes('/events')
          ? []
          : { id: boxId(1), status: asked < 4 ? 'ACTIVE' : 'ERROR', failure_reason: 'no power' };
        const meta = { total: 0, page: 1, limit: 5, total_pages: 0 };
        return ok(data, 200, meta);
      },
    });
    const { code, stderr } = await near.cli(['instances', 'wait', boxId(1), '--for', 'ssh']);
    await near.close();
    expect(code).toBe(12);
    expect(stderr).toContain('is ERROR and will not become ACTIVE by itself: no power.');
  });

  /** A world whose machine is as told, with an SSH server of this computer. */
  async function besideSshd(machineOf: (port: number) => Record<string, unknown>) {
    const { createServer } = await import('node:net');
    const sshd = createServer((socket) => socket.end('SSH-2.0-Test\r\n'));
    await new Promise<void>((resolve) => sshd.listen(0, '127.0.0.1', resolve));
    const { port } = sshd.address() as { port: number };
    const near = await createWorld({
      handler: () => ok({ id: boxId(1), name: 'box', ...machineOf(port) }),
    });
    const stopSshd = () => new Promise((resolve) => sshd.close(resolve));
    const close = async () => {
      await near.close();
      await stopSshd();
    };
    return { near, port, stopSshd, close };
  }

  test('counts in INSTALLING, in which the document says that SSH is available', async () => {
    const { near, close } = await besideSshd((port) => ({
      status: 'INSTALLING',
      ip_address: '127.0.0.1',
      ssh_port: port,
    }));
    const { code, stdout } = await near.cli([
      'instances',
      'wait',
      boxId(1),
      '--for',
      'ssh',
      '--json',
    ]);
    await close();
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([{ id: boxId(1), name: 'box', status: 'INSTALLING' }]);
  });

  test('an empty address is none yet, and not this computer', async () => {
    const { near, close } = await besideSshd((port) => ({
      status: 'ACTIVE',
      ip_address: '',
      ssh_port: port,
    }));
    const { code } = await near.cli([
      ...['instances', 'wait', boxId(1), '--for', 'ssh', '--wait-timeout', '10s'],
    ]);
    await close();
    expect(code).toBe(8);
  });

  test.each([
    ['SSH port', { ip_address: '127.0.0.1', ssh_port: 70_000 }],
    ['address', { ip_address: '-oProxyCommand=id', ssh_port: 22 }],
  ])('a nonsensical %s ends it at once, and the bill is told', async (what, machine) => {
    const { near, close } = await besideSshd(() => ({ status: 'ACTIVE', ...machine }));
    const { code, stderr } = await near.cli(['instances', 'wait', boxId(1), '--for', 'ssh']);
    await close();
    expect(code).toBe(10);
    expect(stderr).toContain(`as the ${what} of the machine`);
    expect(stderr).toContain('Count it as still billing.');
  });

  test('--wait of ssh looks at the port that was named', async () => {
    const { near, port, close } = await besideSshd(() => ({
      status: 'ACTIVE',
      ip_address: '127.0.0.1',
      ssh_username: 'root',
      ssh_port: null,
    }));
    const { code, stdout } = await near.cli([
      ...['instances', 'ssh', '--wait', '--wait-timeout', '4s', '--port', String(port), '--print'],
      boxId(1),
    ]);
    await close();
    expect(code).toBe(0);
    expect(stdout).toContain(`-p ${port} -- root@127.0.0.1`);
  });

  test('is done when a banner is read at the address of the machine', async () => {
    const { near, stopSshd, close } = await besideSshd((port) => ({
      status: 'ACTIVE',
      ip_address: '127.0.0.1',
      ssh_port: port,
    }));
    expect((await near.cli(['instances', 'wait', boxId(1), '--for', 'ssh'])).code).toBe(0);
    await stopSshd();
    expect(
      (await near.cli(['instances', 'wait', boxId(1), '--for', 'ssh', '--wait-timeout', '10s']))
        .code,
    ).toBe(8);
    await close();
  });
});

describe('a wait that ends early', () => {
  const worldOf = (answers: readonly (number | string)[]) => {
    const left = [...answers];
    return createWorld({
      handler({ path }) {
        const answer = path.includes('/events') ? 404 : left.length > 1 ? left.shift() : left[0];
        return typeof answer === 'number'
          ? { status: answer, body: { statusCode: answer, message: 'no', error: 'No' } }
          : ok({ id: boxId(1), status: answer });
      },
    });
  };

  test('by a key that is refused says that the machine goes on billing', async () => {
    const near = await worldOf(['PROVISIONING', 401]);
    const { code, stderr } = await near.cli(['instances', 'wait', boxId(1), '--json']);
    await near.close();
    expect(code).toBe(4);
    expect(errorOf(stderr)).toMatchObject({
      message: expect.stringContaining(
        'Nobody waits for b0000000-0000-4000-8000-000000000001 (b0000000-0000-4000-8000-000000000001) any more. Count it as still billing. To end it: gpucloud instances terminate b0000000-0000-4000-8000-000000000001',
      ),
      may_be_billing: true,
      resource: boxId(1),
    });
  });

  test('by a terminate that fell back names the command that ends the machine', async () => {
    const near = await worldOf(['TERMINATING', 'ACTIVE']);
    const { code, stderr } = await near.cli(['instances', 'wait', boxId(1), '--for', 'terminated']);
    await near.close();
    expect(code).toBe(12);
    expect(stderr).toContain(
      'end it with "gpucloud instances terminate b0000000-0000-4000-8000-000000000001"',
    );
  });

  test.each([
    ['wait', ['--for', 'hibernating', '--wait-timeout', '1s'], 'status'],
    ['events', ['--follow', '--until', 'hibernating'], 'status or type'],
  ])(
    '%s notes a word that the document does not know, when it begins',
    async (verb, words, what) => {
      const near = await worldOf([404]);
      const { stderr } = await near.cli(['instances', verb, boxId(1), ...words]);
      await near.close();
      expect(stderr).toContain(
        `Not a ${what} of the API document, asked for all the same: HIBERNATING.`,
      );
    },
  );

  test.each([
    [['wait', boxId(1), '--for', 'actve'], '--for "actve"', 'active'],
    [['wait', boxId(1), '--for', 'ACITVE'], '--for "ACITVE"', 'active'],
    [['wait', boxId(1), '--for', 'terminate'], '--for "terminate"', 'terminated'],
    [['wait', boxId(1), '--for', 'stop'], '--for "stop"', 'stopped'],
    [['wait', boxId(1), '--for', 'shh'], '--for "shh"', 'ssh'],
    [['events', boxId(1), '--follow', '--until', 'activ'], '--until "activ"', 'active'],
    [['events', boxId(1), '--follow', '--until', 'eror'], '--until "eror"', 'error'],
    [['events', boxId(1), '--type', 'billin'], '--type "billin"', 'billing'],
    [
      ['events', boxId(1), '--type', 'error,state-change'],
      '--type "state-change"',
      'status_change',
    ],
  ])('%j is refused before any request', async (words, what, meant) => {
    const near = await worldOf(['ACTIVE']);
    const refused = await near.cli(['instances', ...words]);
    await near.close();
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: ${what}: the API document has no such word (Did you mean ${meant}?)\n`,
      requests: [],
    });
  });

  test.each(['inactive', 'restarting', 'booting', 'resetting', 'updating', 'paused'])(
    'a status that may be new, %s, is waited for',
    async (word) => {
      const near = await worldOf([word.toUpperCase()]);
      const { code } = await near.cli(['instances', 'wait', boxId(1), '--for', word]);
      await near.close();
      expect(code).toBe(0);
    },
  );
});
