import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { freePort, listenOn } from '../support/ports.ts';
import { heard, outcomeOf } from '../support/program.ts';
import {
  box,
  createSshSite,
  createSshWorld,
  ID,
  OTHER,
  type SshSite,
  type SshWorld,
  until,
} from '../support/ssh-world.ts';

// Tests the built program with the system's OpenSSH and a local server.

let site: SshSite;
let world: SshWorld;

describe('instances ssh', needs('ssh'), () => {
  beforeAll(async () => {
    site = await createSshSite();
  });
  afterAll(() => site.close());
  beforeEach(async () => {
    world = await createSshWorld(site);
  });

  test('runs a command on the instance, and passes on its output and exit code', async () => {
    const first = await world.instances('ssh', ID, '--', 'echo out; echo err >&2; exit 42');
    expect({ code: first.code, stdout: first.stdout }).toEqual({ code: 42, stdout: 'out\n' });
    expect(first.stderr).toMatch(
      new RegExp(
        `^Warning: Permanently added '${ID}' \\(ED25519\\) to the list of known hosts\\.\\r\\nerr\\n$`,
      ),
    );
    const second = await world.instances('ssh', ID, '--', 'echo err >&2');
    expect(second).toEqual({ code: 0, stdout: '', stderr: 'err\n' });
  });

  test('exits with 255 and no message if the remote command exits with 255', async () => {
    await world.instances('ssh', ID, '--', 'true');
    const { code, stderr } = await world.instances('ssh', ID, '--', 'exit 255');
    expect({ code, stderr }).toEqual({ code: 255, stderr: '' });
  });

  test('sends stdin to the remote command unchanged', async () => {
    const text = `${randomBytes(200_000).toString('base64')}\n`;
    const { code, stdout } = await world.gpucloud(
      ['instances', 'ssh', ...world.own, ID, '--', 'cat'],
      text,
    );
    expect(code).toBe(0);
    expect(stdout === text).toBe(true);
  });

  test('accepts a new instance at a reused address, but rejects a changed host key', async () => {
    const port = await freePort();
    const { instances } = world.service;
    const before = await site.start({ port });
    instances.set(ID, box(port));
    expect((await world.instances('ssh', ID, '--', 'true')).code).toBe(0);
    await before.stop();

    // Starts another instance at the same address and port.
    const later = await site.start({ port, hostKey: site.otherHostKey });
    try {
      instances.set(ID, box(port, { status: 'TERMINATED', ip_address: null }));
      instances.set(OTHER, box(port, { id: OTHER, name: 'new-box' }));
      const recycled = await world.instances('ssh', OTHER, '--', 'echo in');
      expect(recycled).toMatchObject({ code: 0, stdout: 'in\n' });
      expect(recycled.stderr).not.toContain('IDENTIFICATION HAS CHANGED');
      expect(recycled.stderr.trim().split('\n')).toHaveLength(1);

      instances.set(ID, box(port));
      const changed = await world.instances('ssh', ID, '--', 'echo in');
      expect(changed).toMatchObject({ code: 255, stdout: '' });
      expect(changed.stderr).toContain('REMOTE HOST IDENTIFICATION HAS CHANGED');
      const last = changed.stderr.trim().split('\n').at(-1) ?? '';
      expect(last).toContain(`box (${ID}) has a new host key`);
      // The suggested command must work.
      const [, forget = ''] = /(ssh-keygen -f .+)$/.exec(last) ?? [];
      expect((await world.computer.bash(forget)).code).toBe(0);
      const again = await world.instances('ssh', ID, '--', 'echo in');
      expect(again).toMatchObject({ code: 0, stdout: 'in\n' });
    } finally {
      await later.stop();
    }
  });

  test("uses its own known_hosts file instead of the user's", async () => {
    await world.instances('ssh', ID, '--', 'true');
    const known = join(world.computer.home, 'state', 'ssh', 'known_hosts');
    expect(await readFile(known, 'utf8')).toMatch(new RegExp(`^${ID} ssh-ed25519 `));
    expect((await world.instances('ssh', ID, '--print')).stdout).toContain(
      `-o UserKnownHostsFile=${known} `,
    );
  });

  test("lists the instance's keys if it refuses every SSH key", async () => {
    world.service.instances.set(
      ID,
      box(site.sshd.port, {
        ssh_keys: [{ id: 'k1', name: 'laptop', fingerprint: 'SHA256:abc' }],
      }),
    );
    const { code, stderr } = await world.gpucloud([
      ...['instances', 'ssh', ID, '--ssh-arg=-F/dev/null', '--identity', site.otherHostKey, '--'],
      'true',
    ]);
    expect(code).toBe(255);
    expect(stderr).toContain('Permission denied (publickey)');
    expect(stderr).toContain('refused every key: its keys are laptop SHA256:abc');
  });

  test('exits with 255 if the SSH port does not respond', async () => {
    world.service.instances.set(ID, box(await freePort()));
    const { code, stderr } = await world.instances('ssh', ID, '--', 'true');
    expect(code).toBe(255);
    expect(stderr).toContain('SSH of box does not respond at 127.0.0.1 port');
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('passes %s on to ssh, and exits with %i', async (signal, code) => {
    const child = world.computer.start(
      ['instances', 'ssh', ...world.own, ID, '--', 'echo there; exec sleep 60'],
      { env: world.service.env },
    );
    const ended = outcomeOf(child);
    await heard(child, 'stdout', /there/);
    child.kill(signal);
    expect((await ended).code).toBe(code);
  });

  test.each([
    ['ssh --wait', (...own: string[]) => ['ssh', ...own, '--wait', ID, '--', 'echo in']],
    ['wait --for ssh', () => ['wait', ID, '--for', 'ssh', '--columns', 'status', '--no-header']],
  ])('waits with %s until the open port responds with SSH', async (_what, argvOf) => {
    const port = await freePort();
    world.service.instances.set(ID, box(port, { status: 'PROVISIONING', ip_address: null }));
    const argv = ['instances', ...argvOf(...world.own)];
    argv.splice(2, 0, '--poll-interval', '500ms');
    let isOver = false;
    const waiting = world.gpucloud(argv).finally(() => {
      isOver = true;
    });
    await until(() => world.service.requests.length >= 2);
    const silent: Socket[] = [];
    const silence = createServer((socket) => {
      socket.on('error', () => undefined);
      silent.push(socket);
    });
    await listenOn(silence, port);
    world.service.instances.set(ID, box(port));
    await until(() => silent.length > 0);
    // A response in another protocol does not count as SSH.
    silent[0]?.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    await until(() => silent.length > 1);
    expect(isOver).toBe(false);
    silence.close();
    for (const socket of silent) socket.destroy();
    const late = await site.start({ port });
    try {
      expect(await waiting).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^(?:in|ACTIVE)\n$/),
      });
    } finally {
      await late.stop();
    }
  });
});
