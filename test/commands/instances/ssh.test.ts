import { existsSync, readFileSync, watch } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { createWorld, SELF, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { ok } from '../../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const ANY_ID = '[0-9a-f]{8}-[0-9a-f-]{27}';

let opened: World | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

/** Creates a service with one instance, and an ssh that records its arguments. */
async function worldWith(instance: Record<string, unknown>): Promise<World> {
  const world = await createWorld({
    handler: ({ path }) =>
      path === `/instances/${ID}`
        ? ok({
            id: ID,
            name: 'trainer',
            status: 'ACTIVE',
            ip_address: '192.168.5.6',
            ssh_username: 'root',
            ssh_port: 22,
            ...instance,
          })
        : { status: 404, body: { statusCode: 404, message: 'no', error: 'Not Found' } },
  });
  opened = world;
  const bin = join(world.home, 'bin');
  await mkdir(bin);
  for (const name of ['ssh', 'scp']) {
    await writeFile(
      join(bin, name),
      `#!/bin/sh\nprintf '%s\\n' ${name} "$@" >> '${join(world.home, 'started')}'\n`,
      { mode: 0o755 },
    );
  }
  return world;
}

const run = (world: World, ...argv: string[]) =>
  world.cli(['instances', ...argv], { env: { PATH: `${join(world.home, 'bin')}:/usr/bin:/bin` } });

async function started(world: World): Promise<string[]> {
  if (!(await readdir(world.home)).includes('started')) return [];
  return (await readFile(join(world.home, 'started'), 'utf8')).trimEnd().split('\n');
}

test("exits with the remote command's exit code, without a second ssh", async () => {
  const world = await worldWith({});
  const calls = join(world.home, 'calls');
  await writeFile(join(world.home, 'bin', 'ssh'), `#!/bin/sh\necho ssh >>'${calls}'\nexit 3\n`);
  expect((await run(world, 'ssh', ID, '--', 'false')).code).toBe(3);
  // A second ssh would require another sign-in.
  expect(await readFile(calls, 'utf8')).toBe('ssh\n');
});

test("exits with ssh's exit code if a second ssh can't start", async () => {
  const world = await worldWith({});
  const bin = join(world.home, 'bin');
  await writeFile(join(bin, 'ssh'), '#!/bin/sh\n/bin/rm "$0"; exit 255\n');
  const result = await world.cli(['instances', 'ssh', ID], { env: { PATH: bin } });
  expect(result).toMatchObject({ code: 255, stdout: '', stderr: '' });
});

describe('ssh to several instances', () => {
  test('refuses two known names before a command, with the lines that run it on each', async () => {
    const world = await worldWith({});
    await run(world, 'track', ID);
    for (const other of ['trainer', 'TRAINER', ID]) {
      const argv = ['ssh', ID, other, '--', 'sh', '-c', 'echo a b', '--'];
      const { code, stdout, stderr } = await run(world, ...argv);
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr:
          `error: ssh takes one instance, and got 2: ${ID}, ${other}. Nothing ran.\n` +
          'hint: run it on each with GNU parallel:\n' +
          `  gpucloud instances inventory ${ID} ${other} --format parallel > hosts.slf && parallel --sshloginfile hosts.slf --nonall sh -c 'echo a b' --\n`,
      });
    }
    const key = await run(world, 'ssh', '--identity', 'my key', ID, 'trainer', '--', 'ls');
    expect(key.stderr).toContain(` ${ID} trainer --identity 'my key' --format parallel > `);
    expect(await started(world)).toEqual([]);
  });

  test.each([
    [['trainer'], 'a program named as an instance'],
    [['time', '--', 'ls'], 'a program before --'],
    [['trainer', 'time', '--', 'ls'], 'an instance and a program before --'],
  ])('runs %j: %s', async (words) => {
    const world = await worldWith({});
    await run(world, 'track', ID);
    expect((await run(world, 'ssh', ID, ...words)).code).toBe(0);
    expect((await started(world)).slice(-words.length)).toEqual(words);
  });
});

test.each([
  [
    'root@192.168.5.6: Permission denied (publickey).',
    `warning: trainer refused every key: its keys are laptop SHA256:abc, k2. Select a private key with --identity FILE.\n`,
  ],
  [
    'ssh: connect to host 192.168.5.6 port 22: Connection refused',
    'warning: SSH of trainer does not respond at 192.168.5.6 port 22. If the instance has just started, add --wait.\n',
  ],
  [
    'Host key verification failed.',
    `warning: trainer (${ID}) has a new host key, so nothing was sent. It may have been reinstalled, or another server responds in its place. If you trust the new key, remove the old key: ssh-keygen -f HOME/state/ssh/known_hosts -R ${ID}\n`,
  ],
  ['debug1: Entering interactive session.\nPermission denied (publickey).', ''],
  ['something else', ''],
])('says why ssh failed if a second sign-in prints %j', async (output, stderr) => {
  const world = await worldWith({
    ssh_keys: [{ id: 'k1', name: 'laptop', fingerprint: 'SHA256:abc' }, { id: 'k2' }],
  });
  const ssh = `#!/bin/sh\n[ "$1" = -v ] && printf '%s\\n' '${output}' >&2\nexit 255\n`;
  await writeFile(join(world.home, 'bin', 'ssh'), ssh);
  const result = await run(world, 'ssh', ID);
  expect({ ...result, stderr: result.stderr.replaceAll(world.home, 'HOME') }).toMatchObject({
    ...{ code: 255, stdout: '', stderr },
  });
});

const MISSING =
  'ssh is not on PATH: gpucloud connects with OpenSSH.\nhint: install an OpenSSH client (openssh-client on Debian and Ubuntu, an optional feature on Windows); check it: gpucloud doctor';

test.each([
  [['ssh', ID], false, MISSING],
  [['ssh', ID], true, 'Could not start ssh (EACCES).'],
  [['tunnel', ID, '0:8888'], false, MISSING],
])('says why it could not start %j', async (words, isThere, why) => {
  const world = await worldWith({});
  const bin = join(world.home, 'bin');
  await rm(join(bin, 'ssh'));
  if (isThere) await writeFile(join(bin, 'ssh'), 'not a program');
  const { code, stderr } = await world.cli(['instances', ...words], { env: { PATH: bin } });
  expect({ code, stderr }).toEqual({ code: 1, stderr: `error: ${why}\n` });
});

test('exits with 130 if Ctrl-C stops a tunnel before it opens', async () => {
  const world = await worldWith({});
  const interrupt = new AbortController();
  const calls = join(world.home, 'calls');
  const ssh = `#!/bin/sh\necho ssh >>'${calls}'\nsleep 1\nexit 255\n`;
  await writeFile(join(world.home, 'bin', 'ssh'), ssh);
  const watcher = watch(world.home, () => {
    if (existsSync(calls)) interrupt.abort(new CliError('interrupted', 'Interrupted.'));
  });
  try {
    const { code } = await world.cli(['instances', 'tunnel', ID, '8888'], {
      env: { PATH: `${join(world.home, 'bin')}:/usr/bin:/bin` },
      interrupts: { first: interrupt.signal, second: new AbortController().signal },
    });
    expect(code).toBe(130);
  } finally {
    watcher.close();
  }
});

test('prints the address before a shell, but not before a command', async () => {
  const world = await worldWith({});
  const env = { PATH: `${join(world.home, 'bin')}:/usr/bin:/bin` };
  const shell = await world.cli(['instances', 'ssh', ID], { env, terminal: true });
  expect(shell.stderr).toBe('Connecting to root@192.168.5.6…\n');
  const argv = ['instances', 'ssh', ID, '--', 'true'];
  expect((await world.cli(argv, { env, terminal: true })).stderr).toBe('');
});

test('exits with 130 on Ctrl-C after ssh has exited', async () => {
  const world = await worldWith({});
  const calls = join(world.home, 'calls');
  await writeFile(
    join(world.home, 'bin', 'ssh'),
    `#!/bin/sh\necho ssh >> '${calls}'\n[ "$(wc -l < '${calls}')" -lt 2 ] && exit 255\nexec sleep 1\n`,
  );
  const interrupt = new AbortController();
  // The second ssh call checks why the first failed.
  const watcher = watch(world.home, () => {
    if (existsSync(calls) && readFileSync(calls, 'utf8').split('\n').length > 2) {
      interrupt.abort(new CliError('interrupted', 'Interrupted.'));
    }
  });
  try {
    const { code, stderr } = await world.cli(['instances', 'ssh', ID], {
      env: { PATH: `${join(world.home, 'bin')}:/usr/bin:/bin` },
      interrupts: { first: interrupt.signal, second: new AbortController().signal },
    });
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
  } finally {
    watcher.close();
  }
});

describe('instances ssh', () => {
  test.each([
    ['STOPPED', 'gpucloud instances start trainer --wait=ssh'],
    ['STOPPING', 'gpucloud instances wait trainer --for stopped'],
    ['PROVISIONING', 'gpucloud instances wait trainer --for ssh'],
    ['STARTING', 'gpucloud instances wait trainer --for ssh'],
    ['TERMINATING', 'gpucloud instances list'],
    ['TERMINATED', 'gpucloud instances reorder trainer NEW-NAME'],
  ])('exits with 5 for ssh in status %s, and suggests the next command', async (status, hint) => {
    const world = await worldWith({ status });
    for (const argv of [
      ['ssh', ID],
      ['ssh', ID, '--port', '2222'],
      ['scp', `${ID}:a`, '.'],
      ['tunnel', ID, '8888'],
    ]) {
      const { code, stdout, stderr } = await run(world, ...argv);
      expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
      expect(stderr).toContain(`Can't connect to trainer: the instance is ${status}.`);
      expect(stderr).toContain(hint);
    }
    const { stderr } = await run(world, 'scp', `${ID}:a`, '.', '--json');
    const { retryable, resource } = JSON.parse(stderr).error;
    expect([retryable, resource]).toEqual([/^(PROVISION|START)ING$/.test(status), ID]);
    expect(await started(world)).toEqual([]);
  });

  test.each([
    [{ ip_address: null }, 5, 'no address'],
    [{ name: null, status: 'STOPPED' }, 5, `Can't connect to ${ID}: the instance is STOPPED.`],
    [
      { status: 'ERROR', ip_address: null, failure_reason: 'no hardware' },
      5,
      'ERROR (no hardware)',
    ],
    [
      { ip_address: '192.168.5.6\n-x' },
      10,
      String.raw`"192.168.5.6\n-x" as the instance's address`,
    ],
    [{ ssh_username: 'ro ot' }, 10, `"ro ot" as the instance's user name`],
  ])('rejects the ssh command %j with exit code %i', async (instance, exit, words) => {
    const world = await worldWith(instance);
    const { code, stdout, stderr } = await run(world, 'ssh', ID);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toContain(words);
    expect(await started(world)).toEqual([]);
  });

  test('prints a ProxyCommand in the sandbox, with a note the first time', async () => {
    const world = await createWorld({ handler: () => 'hangUp', signedIn: false });
    opened = world;
    const env = { GPUCLOUD_PROFILE: 'sandbox' };
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE, '--wait=ssh'], { env });
    const print = () => world.cli(['instances', 'ssh', 'trainer', '--wait', '--print'], { env });
    const printed = await print();
    const file = join(world.home, 'state', 'sandbox.json');
    expect(printed.stdout).toMatch(/^ssh .+ -p 22 -- root@203\.0\.113\.1\n$/);
    expect(printed.stdout).toMatch(
      new RegExp(
        `-o 'ProxyCommand=${SELF.file} ${SELF.args} sandbox connect ${ANY_ID} --state ${file}' `,
      ),
    );
    const note = 'Commands on a sandbox instance run on this computer, as you.\n';
    expect(printed.stderr).toBe(note);
    expect((await print()).stderr).toBe('');
    const { stdout } = await world.cli(['instances', 'ssh-config'], { env });
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
      new RegExp(
        `^  ProxyCommand ${SELF.file} ${SELF.args} sandbox connect ${ANY_ID} --state ${file}$`,
      ),
    );
  });

  test('connects to a documentation address outside the sandbox', async () => {
    const world = await worldWith({ ip_address: '203.0.113.7' });
    const { code } = await run(world, 'ssh', ID, '--', 'true');
    expect(code).toBe(0);
    expect(await started(world)).toContain('root@203.0.113.7');
  });

  test('connects to an instance in status ERROR', async () => {
    const world = await worldWith({ status: 'ERROR', failure_reason: 'lost' });
    const { code, stderr } = await run(world, 'ssh', ID, '--', 'true');
    expect(code).toBe(0);
    expect(stderr).toContain('trainer is ERROR (lost); trying anyway.');
    expect(await started(world)).toContain('root@192.168.5.6');
  });
});

describe('the arguments of ssh and scp', () => {
  const ours = (world: World) => [
    ...['-o', `HostKeyAlias=${ID}`],
    ...['-o', `UserKnownHostsFile=${join(world.home, 'state', 'ssh', 'known_hosts')}`],
    ...['-o', 'StrictHostKeyChecking=accept-new', '-o', 'CheckHostIP=no'],
  ];

  test('passes the host key options, port and address to ssh and scp', async () => {
    const world = await worldWith({});
    await run(world, 'ssh', ID);
    expect(await started(world)).toEqual([
      ...['ssh', ...ours(world), '-p', '22', '--', 'root@192.168.5.6'],
    ]);
  });

  test("passes the user's options to ssh and scp before gpucloud's", async () => {
    const world = await worldWith({ ssh_username: null, ssh_port: null });
    const key = join(world.home, 'key');
    await writeFile(key, '');
    const flags = ['--user', 'ann', '--port', '2200', '-i', '~/key', '-t'];
    const more = ['--ssh-arg=-A', '--ssh-option', 'ProxyJump=bastion'];
    await world.cli(['instances', 'ssh', ...flags, ID, ...more, '--', 'ls', '-la'], {
      env: { PATH: `${join(world.home, 'bin')}:/usr/bin:/bin`, HOME: world.home },
    });
    expect(await started(world)).toEqual([
      ...['ssh', '-A', '-o', 'ProxyJump=bastion', '-i', key, '-o', 'IdentitiesOnly=yes'],
      ...[...ours(world), '-t', '-p', '2200', '--', 'ann@192.168.5.6', 'ls', '-la'],
    ]);
  });

  test.each([
    [
      [],
      undefined,
      /^Copying train\.py to trainer, 1 min so far\nCopying train\.py to trainer, 2 min/,
    ],
    [['--json'], undefined, /^$/],
    [[], { terminal: true }, /^$/],
  ])('prints a line per minute of scp without a terminal: %j %j', async (flags, terminal, said) => {
    const world = await worldWith({});
    // Each sleep of the test's clock passes at once.
    const env = { PATH: `${join(world.home, 'bin')}:/usr/bin:/bin` };
    const argv = ['instances', 'scp', ...flags, 'train.py', `${ID}:`];
    const { code, stderr } = await world.cli(argv, { env, ...terminal });
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(said);
  });

  test('puts an IPv6 address in brackets for scp', async () => {
    const world = await worldWith({ ip_address: '2001:db8::5' });
    await run(world, 'scp', '-r', '-p', '-x y', `${ID}:a b`);
    // An unknown flag is a usage error.
    expect(await started(world)).toEqual([]);
    await run(world, 'scp', '-r', '-p', '--', '-x y', `${ID}:a b`);
    expect(await started(world)).toEqual([
      ...['scp', ...ours(world), '-r', '-p', '-P', '22', '--', './-x y', 'root@[2001:db8::5]:a b'],
    ]);
  });

  test.each([
    [
      ['ssh', ID, '--user', 'a b'],
      '--user "a b": must have at most 64 letters, digits, ".", "_" and "-", and start with a letter or "_"',
    ],
    [['ssh', ID, '--port', '0'], '--port "0": must be a whole number from 1 to 65535'],
    [
      ['ssh', ID, '--ssh-arg', 'host'],
      '--ssh-arg "host": must start with "-"; add a value without a space, as in -Jjump.example',
    ],
    [
      ['ssh', ID, '--ssh-option', '-x'],
      '--ssh-option "-x": must be Key=value, such as ServerAliveInterval=30',
    ],
    [
      ['ssh', ID, '--ssh-arg', 'a-x'],
      '--ssh-arg "a-x": must start with "-"; add a value without a space, as in -Jjump.example',
    ],
    [
      ['ssh', ID, '--ssh-option', '-oA=1'],
      '--ssh-option "-oA=1": must be Key=value, such as ServerAliveInterval=30',
    ],
    [['ssh', ID, '--identity', 'no/key'], '--identity "no/key": can\'t read the file (ENOENT)'],
    [['ssh', ID, '--identity', ''], '--identity "": is a folder, not a file'],
    [['ssh', ID, '--identity', '/'], '--identity "/": is a folder, not a file'],
    [['tunnel', ID, '70000'], 'PORTS "70000": must be a whole number from 1 to 65535'],
    [
      ['scp', 'a', `${ID}:b`, `${ID}:c`],
      `PATH "a ${ID}:b ${ID}:c": the source of a copy to an instance must be on this computer\nhint: copy the file to this computer first, or copy it on the instance: gpucloud instances ssh NAME`,
    ],
    [
      ['scp', `${ID}:a`, 'other:b', '.'],
      `PATH "${ID}:a other:b .": all sources must be on the same instance`,
    ],
  ])('rejects the ssh and scp arguments %j', async (argv, error) => {
    const world = await worldWith({});
    const { code, stderr, requests } = await run(world, ...argv);
    expect({ code, stderr, requests }).toEqual({
      ...{ code: 2, stderr: `error: ${error}\n`, requests: [] },
    });
    expect(await started(world)).toEqual([]);
  });
});

test("warns once about each part that ssh-config can't read", async () => {
  const world = await worldWith({});
  await run(world, 'track', ID);
  const env = { GPUCLOUD_API_KEY: 'svc_sk_other_0123456789' };
  const { code, stderr } = await world.cli(['instances', 'ssh-config'], { env });
  expect(code).toBe(0);
  expect(stderr.match(/^warning: .* account /gm)).toHaveLength(1);
  expect(stderr.match(/^warning: Could not read drives: /gm)).toHaveLength(1);
});

test('writes one ssh-config file per profile, and one Include line', async () => {
  const world = await worldWith({});
  await run(world, 'track', ID);
  const env = { GPUCLOUD_STATE_DIR: join(world.home, 'a"b') };
  const refused = await world.cli(['instances', 'ssh-config', '--install'], { env });
  expect(refused).toMatchObject({ code: 2, stdout: '', requests: [] });
  expect((await run(world, 'ssh-config', '--install')).code).toBe(0);
  for (const profile of ['default', 'other', '.dot']) {
    await world.cli(['profiles', 'add', profile, '--base-url', world.service.url]);
    const argv = ['instances', 'ssh-config', '--install', '--profile', profile];
    expect((await world.cli(argv)).code).toBe(0);
  }
  const folder = join(world.home, 'state', 'ssh');
  expect((await readdir(folder)).sort()).toEqual([
    '@.dot.conf',
    '@environment.conf',
    'default.conf',
    'known_hosts',
    'other.conf',
  ]);
  const ours = await readFile(join(folder, '@environment.conf'), 'utf8');
  expect(ours.slice(0, ours.indexOf('Host '))).toBe(
    `# Written by "gpucloud instances ssh-config --install"; run it again to renew this file.
# To uninstall, delete this file, and from ~/.ssh/config the line
#   Include ${join(folder, '*.conf')}

`,
  );
  expect(ours).toContain('Host gpucloud-trainer ');
  expect(await readFile(join(world.home, '.ssh', 'config'), 'utf8')).toBe(
    `Include ${join(folder, '*.conf')}\n`,
  );
});

test('leaves ~/.ssh/config unchanged if ssh rejects the line', async () => {
  const world = await worldWith({});
  await run(world, 'track', ID);
  const ssh = join(world.home, 'bin', 'ssh');
  await writeFile(ssh, '#!/bin/sh\necho "config: line 1: bad" >&2\nexit 255\n', { mode: 0o755 });
  const { code, stderr } = await run(world, 'ssh-config', '--install');
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^error: --install: ssh rejects the line Include .*: config: line 1: bad$/m,
  );
  await expect(readFile(join(world.home, '.ssh', 'config'))).rejects.toThrow('ENOENT');
});

test('removes the ssh-config file if no instance has an address', async () => {
  const world = await worldWith({});
  const install = () => run(world, 'ssh-config', '--install');
  const folder = join(world.home, 'state', 'ssh');
  expect((await install()).code).toBe(0);
  expect(await readdir(folder).catch(() => [])).not.toContain('@environment.conf');
  await expect(readFile(join(world.home, '.ssh', 'config'))).rejects.toThrow('ENOENT');

  await run(world, 'track', ID);
  await install();
  expect(await readdir(folder)).toContain('@environment.conf');
  await run(world, 'untrack', ID, '--yes');
  expect((await install()).stderr).toContain('No instance has an address.');
  expect(await readdir(folder)).not.toContain('@environment.conf');
});
