import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { putJob } from '../../contract/tree.ts';
import { createWorld } from '../../support/run-cli.ts';
import { type Answer, ok, sent } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';
import { boxId, openSandbox, rent, world } from './boxes.ts';

openSandbox();

describe.each([
  ['terminate', 'TERMINATING', { code: 7, posts: 4 }],
  ['stop', 'STOPPING', { code: 12, posts: 1 }],
])('%s with status ACTIVE in the response', (verb, onTheWay, expected) => {
  const answering = async (status: string) => {
    const data = { id: boxId(1), name: 'box', status };
    const near = await createWorld({
      handler: ({ method }): Answer => ok(method === 'POST' ? { status: 'ACTIVE' } : data),
    });
    const argv = ['instances', verb, boxId(1), '--yes', '--json'];
    const result = await near.cli(argv).finally(() => near.close());
    return { ...result, posts: result.requests.filter(({ method }) => method === 'POST').length };
  };

  test('exits with a billing warning if the instance stays ACTIVE', async () => {
    const { code, posts } = await answering('ACTIVE');
    expect({ code, posts }).toEqual(expected);
  });

  test('exits with 0 if the read after stop or terminate shows a changing status', async () => {
    await answering(onTheWay);
  });
});

describe('start with status STOPPED in the response', () => {
  const answering = async (status: string) => {
    const data = { id: boxId(1), name: 'box', status };
    const near = await createWorld({
      handler: ({ method }): Answer => ok(method === 'POST' ? { status: 'STOPPED' } : data),
    });
    return near.cli(['instances', 'start', boxId(1), '--json']).finally(() => near.close());
  };

  test.each([
    ['STOPPED', `start the instance (this bills): gpucloud instances start ${boxId(1)} --wait`],
    ['ERROR', `see what happened: gpucloud instances events ${boxId(1)}`],
  ])(
    'exits with 12 and a billing warning if the read after a start shows %s',
    async (status, hint) => {
      const { stderr } = await answering(status);
      expect(errorOf(stderr)).toMatchObject({
        message: `The service accepted the request, but ${boxId(1)} was not started: its status is ${status}.`,
        may_be_billing: true,
        hint,
      });
    },
  );

  test.each(['STARTING', 'ACTIVE'])(
    'exits with 0 if the read after a start shows %s',
    async (status) => {
      await answering(status);
    },
  );
});

describe('instances stop and start', () => {
  test('sends a stop and prints a line for the instance', async () => {
    const id = await rent('trainer');
    const { stdout, requests } = await world.cli([
      ...['instances', 'stop', 'trainer', '-o', 'csv'],
    ]);
    expect(stdout).toBe(`name,id,status,paid_until\ntrainer,${id},STOPPING,\n`);
    expect(requests).toMatchObject([
      { method: 'POST', path: `/instances/${id}/stop`, body: undefined },
    ]);
  });

  test('waits for the status of stop and start with --wait', async () => {
    await rent('trainer');
    const stopped = await world.cli(['instances', 'stop', 'trainer', '--wait', '--json']);
    expect(JSON.parse(stopped.stdout)).toMatchObject({ name: 'trainer', status: 'STOPPED' });
    await world.cli(['instances', 'start', 'trainer', '--wait', '--json']);
  });

  test('warns of the job of a named instance that may bill, and of no other', async () => {
    const a = await rent('box-a');
    await rent('box-b');
    const open = { exit_code: null, ended_at: null, report: null };
    await putJob(world.env, { id: a, name: 'box-a' }, open);
    await world.cli(['instances', 'stop', 'box-b']);
    await world.cli(['instances', 'stop', 'box-a', '--wait']);
    await world.cli(['instances', 'terminate', 'box-a', '--yes']);
    await world.cli(['instances', 'terminate', 'box-a', 'box-b', '--yes', '--wait']);
    await world.cli(['instances', 'terminate', '--all'], { terminal: true });
  });

  test('continues with the next instance after a failure', async () => {
    await rent('box-a');
    await rent('box-b');
    await world.cli(['instances', 'terminate', 'box-a', '-y', '--wait']);
    await world.cli([...['instances', 'stop', 'box-a', 'box-b', 'box-a', '--json']]);
  });

  test('succeeds in stop for a stopping or stopped instance', async () => {
    await rent('trainer');
    await world.cli(['instances', 'stop', 'trainer']);
    await world.cli(['instances', 'stop', 'trainer'], { terminal: true });
    const going = await world.cli(['instances', 'stop', 'trainer', '--wait', '--json']);
    expect(JSON.parse(going.stdout)).toMatchObject({ name: 'trainer', status: 'STOPPED' });
    await world.cli(['instances', 'stop', 'trainer']);
  });

  test('prints one line per instance in a terminal, without a table', async () => {
    await rent('trainer');
    await world.cli(['instances', 'wait', 'trainer'], { terminal: true });
    for (const flags of [['--wait'], [], ['--wait']])
      await world.cli(['instances', 'stop', 'trainer', ...flags], { terminal: true });
    await world.cli(['instances', 'stop', 'trainer', '--columns', 'status'], {
      terminal: true,
    });
  });

  test('prints two failures as two lines, and as one object with --json', async () => {
    const people = await world.cli(['instances', 'stop', 'no-such-a', 'no-such-b']);
    expect(people.stderr.split('\n').filter((line) => line.startsWith('error: '))).toHaveLength(2);
    const scripts = await world.cli(['instances', 'stop', 'no-such-a', 'no-such-b', '--json']);
    expect(scripts.stdout).toBe('');
    expect(errorOf(scripts.stderr).errors).toHaveLength(2);
  });

  test('retries a stop that fails once', async () => {
    const id = await rent('trainer');
    await world.sandbox.inject('fail-stop');
    const { requests } = await world.cli(['instances', 'stop', 'trainer']);
    expect(sent(requests)).toEqual([
      `POST /instances/${id}/stop`,
      `GET /instances/${id}`,
      `POST /instances/${id}/stop`,
    ]);
  });
});

describe('instances terminate', () => {
  test('reports that nothing was terminated if interrupted', async () => {
    await rent('trainer');
    const interrupt = new AbortController();
    interrupt.abort(new CliError('interrupted', 'Interrupted.'));
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    const { code, requests } = await world.cli(['instances', 'terminate', 'trainer', '-y'], {
      interrupts,
    });
    expect({ code, requests }).toEqual({ code: 130, requests: [] });
  });

  test("terminates an instance by its ID with --yes even if the journal can't be read", async () => {
    const id = await rent('trainer');
    const journal = join(world.home, 'state', 'journal');
    await rm(journal, { recursive: true });
    await writeFile(journal, '');
    const { code, stdout } = await world.cli(['instances', 'terminate', id, '-y', '-q']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` });
  });

  test('requires --yes for terminate when not interactive, before any request', async () => {
    await rent('trainer');
    const { code, stdout, requests } = await world.cli(['instances', 'terminate', 'trainer']);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
  });

  test('omits the price of a stopped instance, whose cost is not documented', async () => {
    const id = await rent('trainer');
    await world.cli(['instances', 'stop', 'trainer', '--wait', '-q']);
    const { stderr } = await world.cli(['instances', 'terminate', 'trainer']);
    expect(stderr).toContain(
      `add --yes to confirm (Terminate trainer (${id}) and delete its disk?)`,
    );
  });

  test('terminates an instance with --yes --wait', async () => {
    await rent('trainer');
    await world.cli([...['instances', 'terminate', 'trainer', '-y', '--wait', '--json']]);
    expect((await world.cli(['instances', 'list', '-q'])).stdout).toBe('');
    expect((await world.cli(['instances', 'list', '-q', '--all'])).stdout).not.toBe('');
  });

  test('exits with 0 for an instance that is terminating or terminated', async () => {
    const id = await rent('trainer');
    await world.cli(['instances', 'terminate', 'trainer', '-y']);
    await world.cli(['instances', 'terminate', 'trainer', '-y', '-o', 'csv']);
    const waited = await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait', '--json']);
    expect(JSON.parse(waited.stdout)).toMatchObject({ id, status: 'TERMINATED' });
    const over = await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait']);
    expect(over.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('exits with 2 instead of asking with --no-input or CI', async () => {
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
