import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Computer, createComputer, heard, outcomeOf } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { errorOf } from '../support/stderr-lines.ts';

const SANDBOX = { env: { GPUCLOUD_PROFILE: 'sandbox' } };

let computer: Computer;
beforeEach(async () => {
  computer = await createComputer();
});

describe('the built program', () => {
  test('rents, shows, charges and terminates an instance in the built-in sandbox', async () => {
    const created = await computer.gpucloud(
      ['instances', 'create', 'trainer', ...HARDWARE, '--wait', '--poll-interval', '500ms'],
      SANDBOX,
    );
    expect(created.code).toBe(0);
    expect(created.stdout).toContain('ACTIVE');
    expect(created.stderr).toContain('Stop paying: gpucloud instances terminate trainer');

    await computer.gpucloud(['sandbox', 'advance', '24h']);
    const events = await computer.gpucloud(
      ['instances', 'events', 'trainer', '--all', '--json'],
      SANDBOX,
    );
    const charges = (JSON.parse(events.stdout) as { message: string }[]).filter(({ message }) =>
      message.startsWith('Charged 89.90'),
    );
    expect(charges).toHaveLength(24);

    const ended = await computer.gpucloud(
      ['instances', 'terminate', 'trainer', '-y', '--json'],
      SANDBOX,
    );
    expect(JSON.parse(ended.stdout)).toMatchObject({ name: 'trainer', status: 'TERMINATING' });
    expect(ended.stderr).toBe('');
  });

  test("creates only files that other users can't access", async () => {
    const state = join(computer.home, 'new');
    const env = { ...SANDBOX.env, GPUCLOUD_STATE_DIR: state };
    await computer.gpucloud(['instances', 'create', 'trainer', ...HARDWARE], { env });
    expect((await stat(state)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(state, { recursive: true })) {
      const { mode } = await stat(join(state, name));
      expect(mode & 0o077, name).toBe(0);
    }
  });
});

describe('sandbox serve', () => {
  test('serves other programs, and saves its state on SIGTERM', async () => {
    const server = computer.start(['sandbox', 'serve', '--port', '0', '--speed', '20', '--json']);
    const ended = outcomeOf(server);
    const { url, api_key } = JSON.parse(await heard(server, 'stdout', /\n/));
    const env = { GPUCLOUD_BASE_URL: url, GPUCLOUD_API_KEY: api_key };

    const created = await computer.gpucloud(
      ['instances', 'create', 'trainer', ...HARDWARE, '--wait', '--poll-interval', '500ms', '-q'],
      { env },
    );
    expect(created.code).toBe(0);
    await computer.gpucloud(['sandbox', 'advance', '2h']);
    const read = await computer.gpucloud(['instances', 'get', 'trainer', '--json'], { env });
    expect(JSON.parse(read.stdout)).toMatchObject({ id: created.stdout.trim(), status: 'ACTIVE' });
    const refused = await computer.gpucloud(['instances', 'get', created.stdout.trim()], {
      env: { ...env, GPUCLOUD_API_KEY: 'svc_sk_wrong' },
    });
    expect(refused.code).toBe(4);

    server.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    const status = await computer.gpucloud(['sandbox', 'status', '--json']);
    expect(JSON.parse(status.stdout).instances).toMatchObject([{ name: 'trainer' }]);
  });
});

describe('stdout and signals', () => {
  test('prints the ID of a new instance to stderr if the disk behind stdout is full', async () => {
    const { code, stderr } = await computer.bash(
      `gpucloud --profile sandbox instances create trainer ${HARDWARE.join(' ')} -q > /dev/full`,
    );
    expect(code).toBe(9);
    const listed = await computer.gpucloud(['instances', 'list', '-q'], SANDBOX);
    expect(stderr).toContain(listed.stdout.trim());
    expect(listed.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
  });

  test('prints the failure of one of several instances if the disk behind stdout is full', async () => {
    await computer.gpucloud(['instances', 'create', 'trainer', ...HARDWARE], SANDBOX);
    const { code, stderr } = await computer.bash(
      'gpucloud --profile sandbox instances terminate trainer nowhere --yes --json > /dev/full',
    );
    expect(code).toBe(9);
    expect(errorOf(stderr).errors).toMatchObject([
      { code: 'not_found', resource: 'nowhere' },
      { code: 'storage' },
    ]);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    'stops waiting on %s, exits with %i, and reports the instance as billing',
    async (signal, code) => {
      await computer.gpucloud(['sandbox', 'fault', 'slow-provisioning']);
      const child = computer.start(
        ['instances', 'create', 'trainer', ...HARDWARE, '--wait'],
        SANDBOX,
      );
      const ended = outcomeOf(child);
      await heard(child, 'stderr', /Rented trainer/);
      child.kill(signal);
      const outcome = await ended;
      expect(outcome.code).toBe(code);
      expect(outcome.stdout).toBe('');
      // The signal may arrive before or after the first read.
      expect(outcome.stderr).toMatch(
        /Stopped waiting for trainer \([0-9a-f-]{36}\)\. It (is|may still be) billing\.\n/,
      );
    },
  );
});
