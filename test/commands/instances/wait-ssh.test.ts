import { afterEach, describe, expect, test, vi } from 'vitest';
import { answersSsh } from '../../../src/watch/ssh-endpoint.ts';
import { createWorld } from '../../support/run-cli.ts';
import { ok } from '../../support/service.ts';
import { boxId, openSandbox } from './boxes.ts';

openSandbox();
afterEach(() => vi.useRealTimers());

describe('instances wait --for ssh', () => {
  test.each([
    ['a banner', 'SSH-2.0-Test\r\n', true],
    ['lines before the banner', 'Welcome\r\nSSH-2.0-Test\r\n', true],
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n', false],
    ['another protocol that names SSH', 'HTTP SSH-2.0\r\n', false],
    ['no data', '', false],
  ])('recognizes an SSH server by its banner: %s', async (_what, said, answers) => {
    const { createServer } = await import('node:net');
    const server = createServer((socket) => {
      socket.setNoDelay(true);
      socket.write(said.slice(0, 3));
      setTimeout(() => socket.end(said.slice(3)), 20);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const place = { host: '127.0.0.1', port };
    expect(await answersSsh(place, 5_000, new AbortController().signal)).toBe(answers);
    await new Promise((resolve) => server.close(resolve));
  });

  test.each([
    [0, 500],
    [3_000, 3_000],
    [60_000, 5_000],
  ])('with %i ms left, waits %i ms for the banner of a silent server', async (left, patience) => {
    const { createServer } = await import('node:net');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const answers: boolean[] = [];
    const place = { host: '127.0.0.1', port };
    const asked = answersSsh(place, left, new AbortController().signal);
    void asked.then((answer) => answers.push(answer));
    await vi.advanceTimersByTimeAsync(patience - 1);
    expect(answers).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(answers).toEqual([false]);
    await new Promise((resolve) => server.close(resolve));
  });

  test('waits for an address after ACTIVE, and exits with 12 on ERROR', async () => {
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
    await near.cli(['instances', 'wait', boxId(1), '--for', 'ssh']);
  });

  /** Creates the given instance and an SSH server on this computer. */
  async function besideSshd(instanceOf: (port: number) => Record<string, unknown>) {
    const { createServer } = await import('node:net');
    const sshd = createServer((socket) => socket.end('SSH-2.0-Test\r\n'));
    await new Promise<void>((resolve) => sshd.listen(0, '127.0.0.1', resolve));
    const { port } = sshd.address() as { port: number };
    const near = await createWorld({
      handler: () => ok({ id: boxId(1), name: 'box', ...instanceOf(port) }),
    });
    const stopSshd = () => new Promise((resolve) => sshd.close(resolve));
    const close = async () => {
      await near.close();
      await stopSshd();
    };
    return { near, port, stopSshd, close };
  }

  test('treats an empty address as missing, not as this computer', async () => {
    const { near, close } = await besideSshd((port) => ({
      status: 'ACTIVE',
      ip_address: '',
      ssh_port: port,
    }));
    await near.cli([...['instances', 'wait', boxId(1), '--for', 'ssh', '--wait-timeout', '10s']]);
    await close();
  });

  test.each([
    ['SSH port', { ip_address: '127.0.0.1', ssh_port: 70_000 }],
    ['address', { ip_address: '-oProxyCommand=id', ssh_port: 22 }],
  ])(
    'exits immediately for an invalid %s, and reports the instance as billing',
    async (_what, instance) => {
      const { near, close } = await besideSshd(() => ({ status: 'ACTIVE', ...instance }));
      await near.cli(['instances', 'wait', boxId(1), '--for', 'ssh']);
      await close();
    },
  );

  test('checks the port of ssh --wait --port', async () => {
    const { near, port, close } = await besideSshd(() => ({
      status: 'ACTIVE',
      ip_address: '127.0.0.1',
      ssh_username: 'root',
      ssh_port: null,
    }));
    await near.cli([
      ...['instances', 'ssh', '--wait', '--wait-timeout', '4s', '--port', String(port), '--print'],
      boxId(1),
    ]);
    await close();
  });

  test('succeeds once the SSH server sends its banner', async () => {
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

describe('a wait that stops early', () => {
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

  test('reports possible billing after a refused key', async () => {
    const near = await worldOf(['PROVISIONING', 401]);
    await near.cli(['instances', 'wait', boxId(1), '--json']);
  });

  test('reports possible billing if a wait stops before the first read', async () => {
    const near = await worldOf([401]);
    await near.cli(['instances', 'wait', boxId(1), '--json']);
  });

  test('suggests terminate if the status changes from TERMINATING to ACTIVE', async () => {
    const near = await worldOf(['TERMINATING', 'ACTIVE']);
    await near.cli(['instances', 'wait', boxId(1), '--for', 'terminated']);
  });

  const STATUSES =
    'creating, provisioning, installing, active, stopping, stopped, starting, rebooting, terminating, terminated, error';

  test.each([
    [['wait', boxId(1), '--for', 'actve'], 'status "actve".\nhint: did you mean active?'],
    [['wait', boxId(1), '--for', 'ACITVE'], 'status "acitve".\nhint: did you mean active?'],
    [
      ['wait', boxId(1), '--for', 'terminate'],
      'status "terminate".\nhint: did you mean terminated?',
    ],
    [['wait', boxId(1), '--for', 'stop'], 'status "stop".\nhint: did you mean stopped?'],
    [['wait', boxId(1), '--for', 'shh'], 'status "shh".\nhint: did you mean ssh?'],
    [['wait', boxId(1), '--for', 'running'], 'status "running".\nhint: did you mean active?'],
    [['wait', boxId(1), '--for', 'up'], 'status "up".\nhint: did you mean active?'],
    [['wait', boxId(1), '--for', 'off'], 'status "off".\nhint: did you mean stopped?'],
    [['wait', boxId(1), '--for', 'deleted'], 'status "deleted".\nhint: did you mean terminated?'],
    [
      ['wait', boxId(1), '--for', 'Destroyed'],
      'status "destroyed".\nhint: did you mean terminated?',
    ],
    [
      ['wait', boxId(1), '--for', 'hibernating'],
      `status "hibernating".\nhint: --for accepts ${STATUSES}, ssh`,
    ],
    [
      ['events', boxId(1), '--follow', '--until', 'running'],
      'status or type "running".\nhint: did you mean active?',
    ],
    [
      ['events', boxId(1), '--follow', '--until', 'eror'],
      'status or type "eror".\nhint: did you mean error?',
    ],
    [
      ['events', boxId(1), '--follow', '--until', 'hibernating'],
      `status or type "hibernating".\nhint: --until accepts ${STATUSES}, info, warning, status_change, billing`,
    ],
    [['events', boxId(1), '--type', 'billin'], 'type "billin".\nhint: did you mean billing?'],
    [
      ['events', boxId(1), '--type', 'error,state-change'],
      'type "state_change".\nhint: did you mean status_change?',
    ],
  ])('rejects instances wait %j before any request', async (words, unknown) => {
    const near = await worldOf(['ACTIVE']);
    const refused = await near.cli(['instances', ...words]);
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: Unknown ${unknown}\n`,
      requests: [],
    });
  });

  test('accepts an undocumented status from an earlier response', async () => {
    const near = await worldOf(['HIBERNATING', 'HIBERNATING']);
    expect((await near.cli(['instances', 'track', boxId(1)])).code).toBe(0);
    await near.cli(['instances', 'wait', boxId(1), '--for', 'hibernating']);
  });
});
