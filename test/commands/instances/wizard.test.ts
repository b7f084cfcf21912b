import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { askDeadline } from '../../../src/jobs/ask.ts';
import { atTerminal } from '../../support/at-terminal.ts';
import { needs } from '../../support/needs.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import type { Answer } from '../../support/service.ts';
import { no, ok } from '../../support/service.ts';
import { sshPublicKey } from '../../support/ssh-key.ts';

/** Tests the wizard's plain prompts. test/e2e/wizard-*.test.ts check its terminal output. */
let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => 'hangUp', signedIn: false });
  const key = join(world.home, 'key.pub');
  await writeFile(key, `${sshPublicKey('ssh-ed25519')} laptop\n`);
  await done('ssh-keys', 'add', key, '--name', 'laptop', '--default');
  await done('drives', 'create', 'datasets', '--size', '200');
});

const env = { GPUCLOUD_PROFILE: 'sandbox' };

async function done(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await world.cli(argv, { env });
  expect(code, stderr).toBe(0);
  return stdout;
}

/** Runs a command and answers its prompts. An empty line accepts the default. */
function answered(argv: readonly string[], ...lines: readonly string[]) {
  return world.cli(argv, {
    terminal: true,
    columns: 300,
    typedAhead: true,
    env: { ...env, TERM: 'dumb', PATH: process.env.PATH },
    stdin: lines.map((line) => `${line}\n`).join(''),
  });
}

const instances = async () => JSON.parse(await done('instances', 'list', '--all', '--json'));

const RENT_IT = 'yes';

describe('instances create in a terminal', () => {
  test.each(['--template', '--drive', '--ssh-key'])(
    'rejects an empty %s before the first prompt',
    async (flag) => {
      const { code, stderr } = await answered(['instances', 'create', flag, ''], 'box');
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: `error: ${flag} "": must not be empty\n`,
      });
    },
  );

  test('prompts for each missing value, and prints the rule that an answer breaks', async () => {
    const { code, stderr } = await answered(
      ['instances', 'create'],
      ...['9ab', 'box', 'h100', 'rtx 4090', 'ubuntu 22', '7', '1', 'jupyter', 'datasets', RENT_IT],
    );
    expect(code, stderr).toBe(0);
    expect(await instances()).toMatchObject([{ name: 'box', status: 'ACTIVE' }]);
    expect(JSON.parse(await done('drives', 'list', '--json'))).toMatchObject([
      { name: 'datasets', current_instance_id: (await instances())[0].id },
    ]);
  });

  test('prompts for the container image and ports, and hides variable values in the command', async () => {
    const more = ['--count', '3', '--min-count', '2'];
    const flags = ['--volume', '/data:/mnt', '--shm-size', '8', '--env', 'A=a-secret', ...more];
    const { code, stderr } = await answered(
      ['instances', 'create', 'box', '--dry-run', '--show-secrets', ...flags],
      ...['1', '1', '1', 'nginx:1'],
    );
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('Set A in the environment first.');
    expect(stderr).not.toContain('a-secret');
    expect(await instances()).toEqual([]);
  });

  test(
    'preselects a key whose private key is on this computer, and warns without such a key',
    needs('ssh-keygen'),
    async () => {
      await done('ssh-keys', 'delete', 'laptop', '--yes');
      const file = join(world.home, '.ssh', 'id_ed25519');
      await mkdir(join(world.home, '.ssh'));
      spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'here', '-f', file]);
      const other = join(world.home, 'other.pub');
      await writeFile(other, sshPublicKey('ecdsa-sha2-nistp256'));
      await done('ssh-keys', 'add', `${file}.pub`, '--name', 'here');
      await done('ssh-keys', 'add', other, '--name', 'elsewhere');
      const create = ['instances', 'create', 'box', '--dry-run', '--image', 'ubuntu-22-04'];
      const enter = await answered(create, 'rtx 4090', '', '1', 'none');
      expect(enter.stderr).not.toContain('No SSH key');

      const none = await answered(create, 'rtx 4090', 'none', '1', 'none');
      expect(none.stderr).toMatch(/SSH keys +none\n/);
    },
  );

  test(
    'exits before the first prompt of run if the key has a passphrase',
    needs('ssh-keygen'),
    async () => {
      await done('ssh-keys', 'delete', 'laptop', '--yes');
      const file = join(world.home, '.ssh', 'id_ed25519');
      await mkdir(join(world.home, '.ssh'));
      spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-C', 'here', '-f', file]);
      await done('ssh-keys', 'add', `${file}.pub`, '--name', 'locked');
      const { code, stderr } = await answered(
        ['run', '--dry-run', '--terminate-after', '1h', '--', 'true'],
        '',
      );
      expect(code).toBe(2);
      expect(stderr).toContain(`--ssh-key locked: private key ${file} has a passphrase`);
      expect(stderr).toContain(`ssh-add ${file}`);
      expect(stderr).not.toContain('Offer');
    },
  );

  describe('run', () => {
    const identity = ['--identity', '/dev/null'];
    /** The equivalent command, on one line. */
    const equivalent = (stderr: string) =>
      /Equivalent command:\n([\s\S]*?)\n\n/
        .exec(stderr)?.[1]
        ?.replace(/\s*\\?\n\s*/g, ' ')
        .trim();

    test('asks for a deadline first, and repeats the flags of run in the command', async () => {
      const out = join(world.home, 'out');
      const [sync, report] = [join(world.home, 'in'), join(world.home, 'report.json')];
      await mkdir(sync);
      const flags = [
        ...['--sync', sync, '--exclude', '*.bin', '--fetch', `out:${out}`, '--fetch-every', '10m'],
        ...['--keep-on-failure', '30m', '--grace', '5m', '--report', report, '--detach'],
        ...['--unenforced', '--pass-env', 'PATH', ...identity, '--user', 'me'],
        ...['--ssh-option', 'Compression=yes', '--ssh-arg=-4', '--no-gitignore'],
      ];
      const { code, stderr } = await answered(
        ['run', '--dry-run', ...flags, '--', 'sh', '-c', 'true; false'],
        ...['soon', '2h', 'rtx 4090', 'ubuntu 22', '1'],
      );
      expect(code, stderr).toBe(0);
      expect(stderr).toContain('must be whole numbers with units');
      expect(equivalent(stderr)).toBe(
        `gpucloud run --offer rtx-4090 --image ubuntu-22-04 --ssh-key laptop --terminate-after 2h --unenforced --sync ${sync} --exclude '*.bin' --no-gitignore --fetch out:${out} --fetch-every 10m --keep-on-failure 30m --grace 5m --report ${report} --detach --pass-env PATH --identity /dev/null --user me --ssh-option Compression=yes --ssh-arg=-4 -- sh -c 'true; false'`,
      );
    });

    test.each([
      ['nvidia-smi', '-- nvidia-smi'],
      ['python train.py --lr 1', "-- sh -c 'python train.py --lr 1'"],
    ])('asks for the command: %s', async (line, words) => {
      const { code, stderr } = await answered(
        ['run', '--dry-run', '--terminate-after', '1h', ...identity],
        ...[' ', line, 'rtx 4090', 'ubuntu 22', '1'],
      );
      expect(code, stderr).toBe(0);
      expect(stderr).toContain('must not be empty');
      expect(equivalent(stderr)).toBe(
        `gpucloud run --offer rtx-4090 --image ubuntu-22-04 --ssh-key laptop --terminate-after 1h --identity /dev/null ${words}`,
      );
    });

    test('includes the flags of several instances in the command, but no suggested name', async () => {
      const { code, stderr } = await answered(
        [
          ...['run', '--here', '--count', '3', '--min-count', '2', '--dry-run', ...identity, '--'],
          'true',
        ],
        ...['', 'rtx 4090', 'ubuntu 22', '1'],
      );
      expect(code, stderr).toBe(0);
      const named = await answered(
        ['run', '--name', 'job', '--terminate-after', '1h', '--dry-run', ...identity, '--', 'true'],
        ...['rtx 4090', 'ubuntu 22', '1'],
      );
      expect(equivalent(named.stderr)).toBe(
        'gpucloud run --name job --offer rtx-4090 --image ubuntu-22-04 --ssh-key laptop --terminate-after 1h --identity /dev/null -- true',
      );
    });

    test('rents nothing if the user cancels the deadline prompt', async () => {
      const { prompts } = atTerminal(world, []).context;
      const person = await prompts();
      if (person === undefined) throw new Error('a person has prompts');
      await expect(askDeadline({}, person)).rejects.toThrow('Nothing was rented.');
      expect(await askDeadline({ terminateAfter: 1 }, person)).toEqual({ terminateAfter: 1 });
    });
  });

  test('asks only for a key if there are several without a default', async () => {
    await done('ssh-keys', 'delete', 'laptop', '--yes');
    const types = ['ssh-ed25519', 'ecdsa-sha2-nistp256'] as const;
    for (const [at, type] of types.entries()) {
      const key = join(world.home, `${at}.pub`);
      await writeFile(key, sshPublicKey(type));
      await done('ssh-keys', 'add', key, '--name', `key-${at}`);
    }
    const named = ['--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--dry-run', '--json'];
    const { code, stdout, stderr } = await answered(['instances', 'create', 'box', ...named], '1');
    expect(code, stderr).toBe(0);
    const [key] = JSON.parse(await done('ssh-keys', 'list', '--json'));
    expect(JSON.parse(stdout).request.ssh_keys).toEqual([key.id]);
    expect(stderr).not.toContain('Rent it?');
    const none = await answered(['instances', 'create', 'box', ...named, '--wait=ssh'], 'none');
    expect(none).toMatchObject({ code: 2, stdout: '' });
  });

  test('preselects a single key, but does not preselect any of several', async () => {
    await done('ssh-keys', 'delete', 'laptop', '--yes');
    const keys = ['ssh-ed25519', 'ecdsa-sha2-nistp256'] as const;
    for (const [at, words] of [
      [0, '--ssh-key key-0 --wait=ssh\n'],
      [1, 'ubuntu-22-04 --no-ssh-key --wait\n'],
    ] as const) {
      const key = join(world.home, 'other.pub');
      await writeFile(key, sshPublicKey(keys[at]));
      await done('ssh-keys', 'add', key, '--name', `key-${at}`);
      const { code, stderr } = await answered(
        ['instances', 'create', 'box', '--dry-run', '--image', 'ubuntu-22-04'],
        ...['rtx 4090', '', '1', 'none'],
      );
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(words);
    }
  });

  test('lets the user change an answer before renting', async () => {
    const { code, stderr } = await answered(
      ['instances', 'create', 'box', '--image', 'ubuntu-22-04'],
      ...['rtx 4090', 'none', 'jupyter', 'datasets', 'change', 'a100', '', '', '', RENT_IT],
    );
    expect(code, stderr).toBe(0);
    // Enter accepts the earlier answers.
    expect(stderr).toContain(
      '--offer a100-80gb --image ubuntu-22-04 --no-ssh-key --template jupyterlab --drive datasets --wait',
    );
    expect(await instances()).toMatchObject([{ name: 'box', offer: { name: 'A100 80GB' } }]);
  });

  test('rents nothing if the user cancels the last prompt, and does not ask it with --yes', async () => {
    const { code, stdout } = await answered(
      ['instances', 'create', 'box'],
      ...['1', '1', '', '1', '1', 'cancel'],
    );
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(await instances()).toEqual([]);
    await answered(['instances', 'create', 'box', '--yes'], '1', '1', '', '1', '1');
    expect(await instances()).toMatchObject([{ name: 'box' }]);
  });
});

describe('instances create after the last answer', () => {
  const ID = '3f0c5d9e-1111-4222-8333-444455556666';
  let other: World;
  afterEach(() => other.close());

  /**
   * Creates a service without keys, templates or drives, with these responses to the POST and later
   * reads.
   */
  async function rentAt(post: Answer, get: Answer) {
    other = await createWorld({
      handler: ({ method, path }) => {
        if (path === '/users/me') return ok({ id: 'user-1', balance: '10.00' });
        if (!path.startsWith('/instances')) return ok([]);
        return method === 'POST' ? post : get;
      },
    });
    return await other.cli(['instances', 'create', 'box', '--poll-interval', '500ms'], {
      terminal: true,
      columns: 300,
      typedAhead: true,
      env: { TERM: 'dumb' },
      stdin: ['offer-1', 'image-1', 'no key', '1', RENT_IT].map((line) => `${line}\n`).join(''),
    });
  }

  test.each([
    ['10.01', true],
    ['10.00', false],
  ])('reports a balance of 10.00 as too small for %s per hour: %s', async (price, isShort) => {
    await rentAt(no(401, 'No'), no(404, 'No'));
    const offer = { service: other.service.url, kind: 'offer', id: 'o-1', given_name: 'card' };
    const names = [{ ...offer, price_per_hour: price }];
    const catalog = JSON.stringify({ version: 1, names });
    await writeFile(join(other.home, 'state', 'catalog.json'), catalog);
    const { stderr } = await other.cli(['instances', 'create', 'box', '--image', 'i-1'], {
      terminal: true,
      columns: 300,
      typedAhead: true,
      env: { TERM: 'dumb' },
      stdin: ['card', 'no key', '1', 'cancel'].map((line) => `${line}\n`).join(''),
    });
    expect(stderr.replace(/\s+/g, ' ')).toContain(
      isShort
        ? 'Balance 10.00 ₽, less than the last known price of an hour Warning:'
        : 'Balance 10.00 ₽ Warning:',
    );
  });

  test("rents even if the balance can't be read", async () => {
    const instance = { id: ID, name: 'box', status: 'PROVISIONING' };
    const { stderr } = await rentAt(ok(instance, 201), no(401, 'No'));
    expect(stderr).toContain(`Rented box (${ID})`);
    expect(stderr).not.toContain('Nothing was rented');
  });
});

describe('instances terminate without a name', () => {
  const rent = (name: string) =>
    done('instances', 'create', name, '--offer', 'rtx-4090', '--image', 'ubuntu-22-04');

  test('lists instances, asks for confirmation, and terminates the selected instance', async () => {
    await rent('one');
    // The newer is listed first.
    world.clock.advance(1000);
    await rent('two');
    const list = (await answered(['instances', 'terminate'], 'none', '1', 'no')).stderr;
    expect(list).toContain('choose at least one');
    const two = /(\d)\. two/.exec(list)?.[1] ?? '';
    const { code, stderr } = await answered(['instances', 'terminate'], two, 'maybe', 'yes');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('type yes or no');
    const statuses = Object.fromEntries(
      (await instances()).map((m: { name: string; status: string }) => [m.name, m.status]),
    );
    expect(statuses).toEqual({
      one: expect.not.stringMatching(/^TERMINAT/),
      two: expect.stringMatching(/^TERMINAT/),
    });
  });

  test('terminates nothing if the user answers No', async () => {
    await rent('one');
    const { code } = await answered(['instances', 'terminate'], '1', 'no');
    expect(code).not.toBe(0);
    expect(await instances()).toMatchObject([{ name: 'one', status: 'PROVISIONING' }]);
  });
});

describe('drives create in a terminal', () => {
  test('prompts for the missing name and size', async () => {
    const { code, stderr } = await answered(['drives', 'create'], 'more', '50', 'yes');
    expect(code, stderr).toBe(0);
    const drives: { name: string; size_gb: number }[] = JSON.parse(
      await done('drives', 'list', '--json'),
    );
    expect(drives.find(({ name }) => name === 'more')).toMatchObject({ size_gb: 50 });
  });
});
