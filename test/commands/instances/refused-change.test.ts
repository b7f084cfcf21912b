import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import type { Answer } from '../../support/service.ts';
import { ok } from '../../support/service.ts';
import { errorOf, warningsOf } from '../../support/stderr-lines.ts';
import { until } from '../../support/until.ts';
import { openSandbox, rent, world } from './boxes.ts';

openSandbox();

describe('a refused change', () => {
  const ID = '11111111-1111-4111-8111-111111111111';
  let near: World;

  /** Refuses each POST. Reads return the given statuses in turn, then repeat the last one. */
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
  const AGAIN = (verb: string) =>
    `try again later: gpucloud instances ${verb} ubox; see what happened: gpucloud instances events ubox`;

  test.each([
    [terminate, 'TERMINATING', 'terminated'],
    [stop, 'STOPPING', 'stopped'],
  ])(
    'exits with 0 for %j if the status is changing, and warns in JSON that it may change back',
    async (argv, status, goal) => {
      await refusing(status, 'ACTIVE');
      const { stderr } = await near.cli(argv);
      expect(warningsOf(stderr)).toEqual([
        expect.stringContaining(`To wait: gpucloud instances wait ${ID} --for ${goal}`),
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
    [401, undefined, true],
    [429, undefined, true],
    [422, undefined, true],
  ])(
    'sets may_be_billing after HTTP %i for an instance last read as %s: %s',
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
          expect({ code, as: error.code, hint: error.hint }).toEqual({
            ...{ code: 1, as: 'unavailable' },
            hint:
              argv === stop
                ? 'Try again later: gpucloud instances stop ubox; see why it failed: gpucloud instances events ubox'
                : AGAIN('terminate'),
          });
      }
    },
  );

  test("exits with 12 and --wait if the instance's status changes back", async () => {
    await refusing('TERMINATING', 'ACTIVE');
    await near.cli([...terminate, '--wait']);
  });

  test('shows the ID instead of a name that nobody could type', async () => {
    near = await createWorld({
      handler: ({ method }) =>
        method === 'POST'
          ? { status: 503, body: { statusCode: 503, message: 'no', error: 'No' } }
          : ok({ id: ID, name: 'two words', status: 'ACTIVE' }),
    });
    await near.cli(['instances', 'track', ID]);
    expect(errorOf((await near.cli(stop)).stderr).hint).toBe(
      `Try again later: gpucloud instances stop ${ID}; see why it failed: gpucloud instances events ${ID}`,
    );
  });

  const ONLY = (next: string) =>
    `only an ACTIVE instance can be stopped; ${next}; or terminate it: gpucloud instances terminate ubox`;
  const SEE = 'see its status: gpucloud instances get ubox';
  const [BILLS, MAY_BILL, DONE] = [
    'It is billing.',
    'It may still be billing.',
    'It is no longer billing.',
  ];
  test.each([
    [terminate, 'ACTIVE', BILLS, AGAIN('terminate')],
    [terminate, 'STOPPED', MAY_BILL, AGAIN('terminate')],
    [stop, 'ACTIVE', BILLS, AGAIN('stop')],
    [stop, 'STARTING', BILLS, ONLY('wait for it: gpucloud instances wait ubox')],
    [stop, 'ERROR', MAY_BILL, ONLY('see what happened: gpucloud instances events ubox')],
    [stop, 'TERMINATING', DONE, SEE],
    [stop, 'TERMINATED', DONE, SEE],
  ])(
    'prints the next command after %j for an instance in %s',
    async (argv, status, bills, hint) => {
      await refusing(status);
      await near.cli(['instances', 'track', ID]);
      const { code, stderr } = await near.cli(argv);
      expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
        code: 5,
        error: {
          code: 'wrong_state',
          http_status: 409,
          resource: ID,
          may_be_billing: bills !== DONE,
          message: `The service refused to ${argv[1]} instance ${ID} (409): no. Its status is ${status}. ${bills}`,
          hint,
        },
      });
    },
  );

  test.each([
    ['a pause of 4 s', 4, 0],
    ['a pause of 2 s after 4 s without a response', 2, 4000],
  ])('reports a refused change without waiting for %s', async (_what, pause, slow) => {
    await refusing(() => {
      near.clock.advance(slow);
      return { status: 429, headers: { 'retry-after': String(pause) }, body: {} };
    });
    const { requests } = await near.cli(stop);
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
    expect(near.clock.slept).toEqual([]);
  });
});

describe('an interrupt while the key is fetched', () => {
  const ID = '11111111-1111-4111-8111-111111111111';
  const OTHER = '22222222-2222-4222-8222-222222222222';
  let near: World;

  /** Interrupts the program while its key command runs. */
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
    await until(() => existsSync(asked));
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
  ])(
    'reports for %j that the instance is unchanged if interrupted while the key is fetched',
    async (words, done) => {
      const { error } = JSON.parse(await interrupted(['instances', ...words, '--json']));
      expect(error).toMatchObject({
        code: 'interrupted',
        message: `Interrupted. ${words[1]} was not ${done}: nothing was sent.`,
        hint: `gpucloud instances get ${words[1]}`,
        resource: words[1],
        may_be_billing: true,
      });
    },
  );

  test('prints one line for several instances to people', async () => {
    expect(await interrupted(['instances', 'terminate', 'trainer', ID, '-y'])).toBe(
      `Interrupted. Not terminated: trainer, ${ID}. Nothing was sent.\nhint: gpucloud instances list\n`,
    );
  });

  test('prints an error for each of several instances in JSON', async () => {
    await interrupted(['instances', 'terminate', 'trainer', ID, '-y', '--json']);
  });

  test('reports possible billing if wait is interrupted while the key is fetched', async () => {
    const { error } = JSON.parse(await interrupted(['instances', 'wait', 'trainer', '--json']));
    expect(error).toMatchObject({
      message: 'Interrupted. Stopped waiting for trainer (trainer). It may still be billing.',
      hint: expect.stringContaining('"gpucloud instances terminate trainer"'),
      may_be_billing: true,
    });
  });

  test.each([
    [['create', 'box', '--offer', ID, '--image', OTHER]],
    [['create', 'box', '--offer', ID, '--image', OTHER, '-y']],
    [['create', 'box', '--offer', ID, '--image', OTHER, '-y', '--ssh-key', 'laptop']],
    [['reorder', ID, 'box-2']],
  ])(
    'reports for %j that nothing was created if interrupted while the key is fetched',
    async (words) => {
      const { error } = JSON.parse(await interrupted(['instances', ...words, '--json']));
      expect(error).toMatchObject({
        code: 'interrupted',
        message: 'Interrupted. Nothing was sent, so nothing was created.',
        may_be_billing: false,
      });
    },
  );
});

describe('an interrupt after the request', () => {
  const ID = '11111111-1111-4111-8111-111111111111';

  /** Interrupts during the first request with that method. */
  async function interruptedAt(at: 'GET' | 'POST', verb: string, status: string) {
    const first = new AbortController();
    const near = await createWorld({
      handler({ method }) {
        if (method === at) first.abort(new CliError('interrupted', 'Interrupted.'));
        return ok({ id: ID, status });
      },
    });
    const interrupts = { first: first.signal, second: new AbortController().signal };
    const result = await near.cli(['instances', verb, ID, '-y', '--json'], { interrupts });
    return result;
  }

  test.each(['stop', 'terminate'])(
    'exits with 7 if %s is interrupted after the request',
    async (verb) => {
      const { code, stderr } = await interruptedAt('POST', verb, 'ACTIVE');
      expect({ code, error: errorOf(stderr) }).toMatchObject({
        code: 7,
        error: { code: 'outcome_unknown', resource: ID, may_be_billing: true },
      });
    },
  );

  test.each([
    ['stop', 130],
    ['terminate', 7],
  ])(
    "doesn't print that nothing was sent if interrupted after the request: %s",
    async (verb, exit) => {
      const { code, stderr } = await interruptedAt('GET', verb, 'ACTIVE');
      const error = errorOf(stderr);
      expect({ code, error }).toMatchObject({ code: exit, error: { may_be_billing: true } });
      expect(error.message).not.toContain('sent');
    },
  );

  test('waits for the response to a start, since the instance may bill from then on', async () => {
    await interruptedAt('POST', 'start', 'STARTING');
  });
});

describe('instances reorder', () => {
  test('rents again, and lists the settings that are not copied', async () => {
    const id = await rent('trainer');
    await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait']);
    const { requests } = await world.cli([
      ...['instances', 'reorder', 'trainer', 'trainer-2', '--wait', '--json'],
    ]);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: `/instances/${id}/reorder`,
      body: { new_name: 'trainer-2' },
    });
    const people = await world.cli(['instances', 'reorder', id, 'trainer-3']);
    expect(people.stderr).toContain('template, cloud drive, container');
  });

  test.each([
    [['reorder', 'trainer']],
    [['reorder', 'trainer', 'x']],
    [['reorder', 'trainer', 'box-2', '--name', 'box-3']],
    [['reorder', '..', 'trainer-2']],
  ])('rejects instances reorder %j before any request', async (argv) => {
    const { code, requests } = await world.cli(['instances', ...argv]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
  });

  test('accepts an invalid name in reorder with --any-name', async () => {
    await rent('trainer');
    const { code, requests } = await world.cli([
      ...['instances', 'reorder', 'trainer', 'x', '--any-name'],
    ]);
    expect(code).not.toBe(2);
    expect(requests[0]?.body).toEqual({ new_name: 'x' });
  });
});
