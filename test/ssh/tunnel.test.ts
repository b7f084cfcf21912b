import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { redirectOf } from '../support/browser.ts';
import { freePort, listenOn } from '../support/ports.ts';
import { type CliOptions, createWorld, type World } from '../support/run-cli.ts';
import { type Answer, no, ok } from '../support/service.ts';
import { turns, until } from '../support/until.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const TOKEN = 'f00dfeedf00dfeed';
const ENDPOINTS = [
  {
    name: 'lab',
    port: 8888,
    is_main: true,
    protocol: 'TCP',
    url: `http://192.0.2.1:8888/?token=${TOKEN}`,
  },
  { name: 'metrics', port: 9, protocol: 'UDP' },
  { name: 'stats', port: 10, protocol: 'udp' },
  { name: 'board', port: null, protocol: 'TCP' },
  { name: 'app', port: 6006, protocol: 'TCP' },
  { name: 'Lab', port: 8889, protocol: 'TCP' },
];

let world: World;
let instance: Record<string, unknown>;
let answer: () => Answer;

beforeEach(async () => {
  instance = {
    ...{ id: ID, name: 'box', status: 'ACTIVE', ip_address: '192.0.2.1' },
    ...{ ssh_username: 'root', ssh_port: 22 },
    connection_info: { type: 'template', secrets: { TOKEN }, endpoints: ENDPOINTS },
  };
  answer = () => ok(instance);
  world = await createWorld({ handler: () => answer() });
  await mkdir(join(world.home, 'bin'));
});

const env = () => ({ PATH: `${join(world.home, 'bin')}:/usr/bin:/bin` });
const tunnel = (...words: string[]) =>
  world.cli(['instances', 'tunnel', ID, ...words], { env: env() });

describe('the ports of a tunnel', () => {
  const forwarded = async (...words: string[]) => {
    const { code, stdout, stderr } = await tunnel(...words, '--print');
    const [, local, remote] = /(\d+):localhost:(\d+)/.exec(stdout) ?? [];
    return { code, local: Number(local), remote: Number(remote), stderr };
  };

  test.each([
    [['0:LAB'], 8888],
    [['0:app'], 6006],
    [['0:7777'], 7777],
  ])('of %j end at %i on the instance', async (words, remote) => {
    const { local, ...rest } = await forwarded(...words);
    expect(rest).toEqual({ code: 0, remote, stderr: '' });
    expect(local).toBeGreaterThan(0);
  });

  test('are the same number, unless it is in use', async () => {
    const port = await freePort();
    expect(await forwarded(`${port}`)).toEqual({ code: 0, local: port, remote: port, stderr: '' });
    const taken = createServer();
    await listenOn(taken, port);
    try {
      const other = await forwarded(`${port}`);
      expect(other).toEqual({
        ...{ code: 0, remote: port, local: expect.any(Number) },
        stderr: `Local port ${port} is in use; using ${other.local}.\n`,
      });
      expect(other.local).not.toBe(port);
      expect(await tunnel(`${port}:6006`)).toMatchObject({
        code: 2,
        stderr: `error: PORTS "${port}:6006": local port ${port} is in use or needs root\nhint: use 0:6006 for any free port\n`,
      });
    } finally {
      taken.close();
    }
  });

  test.each([
    ['none', 'box has no endpoint with that name.', 'available: lab, app, Lab'],
    ['metrics', "the endpoint uses UDP, which SSH can't forward.", 'available: lab, app, Lab'],
    ['stats', "the endpoint uses UDP, which SSH can't forward.", 'available: lab, app, Lab'],
    ['board', 'the service returned no port for this endpoint.', 'available: lab, app, Lab'],
  ])('can not be %s', async (name, why, hint) => {
    expect(await tunnel(name)).toMatchObject({
      code: 3,
      stderr: `error: PORTS "${name}": ${why}\nhint: ${hint}\n`,
    });
  });

  test('are those of the main endpoint that SSH can carry', async () => {
    const main = { is_main: true, protocol: 'TCP' };
    const endpoints = [
      ...[
        { ...main, name: 'none', port: null },
        { ...main, name: 'dns', port: 53, protocol: 'UDP' },
      ],
      ...[
        { ...main, name: 'odd', port: 70_000 },
        { ...main, name: 'web', port: 8080 },
        { ...main, name: 'late', port: 9090 },
      ],
    ];
    instance = { ...instance, connection_info: { type: 'template', secrets: {}, endpoints } };
    expect(await forwarded('0:web')).toMatchObject({ code: 0, remote: 8080, stderr: '' });
    expect(await forwarded()).toMatchObject({ code: 0, remote: 8080 });
    const only = [{ name: 'app', port: 6006, protocol: 'TCP' }];
    instance = { ...instance, connection_info: { type: 'template', endpoints: only } };
    expect(await forwarded()).toMatchObject({ code: 0, remote: 6006 });
    only.push({ name: 'web', port: 8080, protocol: 'TCP' });
    expect((await tunnel()).stderr).toBe(
      'error: box has no main endpoint.\nhint: available: app, web\n',
    );
  });

  test('of an instance without endpoints need a number', async () => {
    await world.cli(['instances', 'track', ID]);
    instance = { ...instance, name: null, connection_info: null };
    expect((await tunnel()).stderr).toBe(
      'error: box has no main endpoint.\nhint: use a port of the instance, such as 8888\n',
    );
  });
});

/** Lines that ssh prints with `-v` once the session is open. */
const OPEN = 'debug1: Entering interactive session.';
const LOST = 'Connection to 192.0.2.1 closed by remote host.';
const REFUSED = 'ssh: connect to host 192.0.2.1 port 22: Connection refused';
const CHANGED = 'Host key verification failed.';
const DENIED = 'root@192.0.2.1: Permission denied (publickey).';

const FORWARDING = 'Forwarding port 6006 of box until Ctrl-C:';
const RECONNECTING = 'warning: Lost the connection to box; reconnecting.';
const SIGN_IN = 'hint: try to connect: gpucloud instances ssh box';

/** Installs an ssh whose calls print these lines in turn. The last one repeats. */
async function sshThat(...calls: readonly (readonly string[])[]): Promise<void> {
  for (const [at, lines] of calls.entries())
    await writeFile(join(world.home, `call-${at + 1}`), lines.map((line) => `${line}\n`).join(''));
  const script = [
    '#!/bin/sh',
    `cd '${world.home}'; echo "$*" >>calls; at=$(wc -l <calls)`,
    `[ -e "call-$((at))" ] || at=${calls.length}`,
    'while read -r line; do',
    '  [ "$line" = hold ] && { : >held; exec sleep 60; }',
    '  echo "$line" >&2',
    'done <"call-$((at))"',
    'exit 255',
  ];
  await writeFile(join(world.home, 'bin', 'ssh'), `${script.join('\n')}\n`, { mode: 0o755 });
}

const callsOfSsh = async () =>
  (await readFile(join(world.home, 'calls'), 'utf8')).trim().split('\n');

/** Runs the command until its ssh holds the tunnel, then presses Ctrl-C. */
async function held(...words: string[]) {
  return heldWith({}, words, () => true);
}

async function heldWith(more: CliOptions, words: readonly string[], isReady: () => boolean) {
  const first = new AbortController();
  const ended = world.cli(['instances', 'tunnel', ID, ...words], {
    env: env(),
    interrupts: { first: first.signal, second: new AbortController().signal },
    ...more,
  });
  await until(() => existsSync(join(world.home, 'held')) && isReady());
  // What ssh printed before is in its pipe.
  await turns();
  first.abort(new CliError('interrupted', 'Interrupted.'));
  return ended;
}

describe('a tunnel', () => {
  test('prints its link once it is open, and what ssh says before and after, once each', async () => {
    const failed = 'channel 2: open failed: connect failed: Connection refused';
    const plain = 'channel 3: open failed: connect failed';
    const others = [`A ${plain}`, 'I was Killed by signal 9.', 'Killed by signal 9. Why?'];
    const killed = ['Killed by signal 15.', 'hold'];
    await sshThat(['Welcome', OPEN, failed, failed, plain, ...others, ...killed]);
    const { code, stdout, stderr } = await held('0:lab');
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=\*{8}\n$/);
    const lines = stderr.split('\n');
    expect({ code, lines: [...lines.slice(0, 2), ...lines.slice(2, -2).sort()] }).toEqual({
      code: 0,
      lines: [
        'Welcome',
        'Forwarding port 8888 of box until Ctrl-C:',
        ...others,
        'Nothing listens on port 8888 of box (Connection refused). Start a program on that port.',
        'Nothing listens on port 8888 of box. Start a program on that port.',
        'The token in the link is masked: --show-secrets shows it, --open opens the link.',
      ],
    });
    expect(lines.slice(-2)).toEqual(['Closed the tunnel.', '']);
  });

  test.each([
    ['--show-secrets', TOKEN],
    ['--json', '********'],
  ])('shows its link with %s', async (flag, token) => {
    await sshThat([OPEN, 'hold']);
    const { code, stdout, stderr } = await held('0:lab', flag);
    expect({ code, hasNote: stderr.includes('is masked') }).toEqual({ code: 0, hasNote: false });
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(stdout) ?? [];
    const url = `http://127.0.0.1:${port}/?token=${token}`;
    if (flag !== '--json') expect(stdout).toBe(`${url}\n`);
    else {
      expect(JSON.parse(stdout)).toEqual({
        ...{ instance_id: ID, name: 'box', endpoint: 'lab', url },
        ...{ address: `127.0.0.1:${port}`, local_port: Number(port), remote_port: 8888 },
      });
    }
  });

  test.each([
    ['0:lab', 'http://127.0.0.1:PORT/?token=TOKEN'],
    ['0:7007', 'http://127.0.0.1:PORT/'],
  ])('opens the link of %s in the browser', async (ports, link) => {
    await sshThat([OPEN, 'hold']);
    let visited: string | undefined;
    const openFile = async (page: string) => {
      visited = await redirectOf(page);
      return true;
    };
    const words = [ports, '--open', '-q'];
    const { stdout } = await heldWith({ openFile }, words, () => visited !== undefined);
    const [, port = ''] = /^127\.0\.0\.1:(\d+)\n$/.exec(stdout) ?? [];
    expect(visited).toBe(link.replace('PORT', port).replace('TOKEN', TOKEN));
  });

  test.each([
    [['--query', '[name, remote_port]'], '[\n  "box",\n  8888\n]\n'],
    [['--columns', 'name'], '{\n  "name": "box"\n}\n'],
  ])('shows what %j asks for', async (flags, shown) => {
    await sshThat([OPEN, 'hold']);
    expect((await held('0:lab', '--json', ...flags)).stdout).toBe(shown);
  });

  test('shows its properties in another format', async () => {
    await sshThat([OPEN, 'hold']);
    const { code, stdout, stderr } = await held('0:lab', '-o', 'yaml');
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(stdout) ?? [];
    const shown = [
      ...[`instance_id: ${ID}`, 'name: box', 'endpoint: lab'],
      ...[`url: http://127.0.0.1:${port}/?token=********`, `address: 127.0.0.1:${port}`],
      ...[`local_port: ${port}`, 'remote_port: 8888', ''],
    ];
    expect({ code, stdout, stderr }).toEqual({
      ...{ code: 0, stdout: shown.join('\n'), stderr: 'Closed the tunnel.\n' },
    });
  });

  test('opens again at the address that the service names, or the last one while it is down', async () => {
    await sshThat([OPEN, LOST], [REFUSED], [OPEN, LOST], [OPEN, 'hold']);
    let last = 0;
    const { sleep } = world.clock;
    world.clock.sleep = (...given) => {
      last += 1;
      instance = { ...instance, ip_address: `192.0.2.${last}` };
      if (last === 3) answer = () => no(503, 'down');
      return sleep(...given);
    };
    const { code, stderr } = await held('0:app');
    expect((await callsOfSsh()).map((words) => /192\.0\.2\.\d+$/.exec(words)?.[0])).toEqual([
      ...['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.2'],
    ]);
    expect({ code, stderr, slept: world.clock.slept }).toEqual({
      code: 0,
      // The pause doubles until the tunnel is open again. The last read is repeated.
      slept: [1_000, 2_000, 1_000, 250, 500],
      stderr: [
        FORWARDING,
        LOST,
        RECONNECTING,
        'The tunnel to box is open again.',
        LOST,
        RECONNECTING,
        'The tunnel to box is open again.',
        'Closed the tunnel.',
        '',
      ].join('\n'),
    });
  });

  test('is given up ten minutes after it was last open', async () => {
    await sshThat([OPEN, LOST], [REFUSED]);
    const { code, stderr } = await tunnel('0:app');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: [
        ...[FORWARDING, LOST, RECONNECTING],
        `error: Could not open the tunnel: ${REFUSED}`,
        'hint: SSH of box does not respond at 192.0.2.1 port 22. If the instance has just started, add --wait.',
        '',
      ].join('\n'),
    });
    const pauses = [1_000, 2_000, 4_000, 8_000, 16_000, ...Array(19).fill(30_000)];
    expect(world.clock.slept).toEqual(pauses);
    expect(await callsOfSsh()).toHaveLength(pauses.length + 1);
  });

  test.each([
    [
      'that never opens',
      [['Welcome', LOST]],
      [],
      ['Welcome', `error: Could not open the tunnel: ${LOST}`, SIGN_IN],
    ],
    [
      'whose ssh says nothing',
      [[]],
      [],
      ['error: Could not open the tunnel: ssh exited with 255', SIGN_IN],
    ],
    [
      'that is lost with --no-reconnect',
      [[OPEN, LOST]],
      ['--no-reconnect'],
      [FORWARDING, LOST, `error: Lost the tunnel: ${LOST}`, SIGN_IN],
    ],
    [
      'whose host key changes',
      [[OPEN, LOST], [CHANGED]],
      [],
      [
        ...[FORWARDING, LOST, RECONNECTING, `error: Could not open the tunnel: ${CHANGED}`],
        `hint: box (${ID}) has a new host key, so nothing was sent. It may have been reinstalled, or another server responds in its place. If you trust the new key, remove the old key: ssh-keygen -f HOME/state/ssh/known_hosts -R ${ID}`,
      ],
    ],
    [
      'whose key is refused later',
      [[OPEN, LOST], [DENIED]],
      [],
      [
        ...[FORWARDING, LOST, RECONNECTING, `error: Could not open the tunnel: ${DENIED}`],
        'hint: box refused every key: the service lists none for it, and none can be added. Rent a new instance with --ssh-key, and terminate this one: gpucloud instances terminate box',
      ],
    ],
  ])('%s ends with 1', async (_what, calls, flags, lines) => {
    await sshThat(...calls);
    const { code, stderr } = await tunnel('0:app', ...flags);
    const shown = stderr.replaceAll(world.home, 'HOME');
    expect({ code, shown }).toEqual({ code: 1, shown: `${lines.join('\n')}\n` });
    expect(await callsOfSsh()).toHaveLength(calls.length);
  });

  test('is closed by Ctrl-C while it waits to reconnect', async () => {
    await sshThat([OPEN, LOST]);
    const first = new AbortController();
    const reason = new CliError('interrupted', 'Interrupted.');
    world.clock.sleep = async () => {
      first.abort(reason);
      throw reason;
    };
    const { code, stderr } = await world.cli(['instances', 'tunnel', ID, '0:app', '--debug'], {
      env: env(),
      interrupts: { first: first.signal, second: new AbortController().signal },
    });
    expect({ code, lines: stderr.split('\n').slice(-6) }).toEqual({
      code: 0,
      lines: [FORWARDING, OPEN, LOST, RECONNECTING, 'Closed the tunnel.', ''],
    });
    expect(await callsOfSsh()).toHaveLength(1);
  });

  test('is closed if its link can not be printed', async () => {
    await sshThat([OPEN, 'hold']);
    const { code, stderr } = await world.cli(['instances', 'tunnel', ID, '0:app'], {
      env: env(),
      isStdoutFull: true,
    });
    expect({ code, stderr }).toEqual({
      code: 9,
      stderr: `${FORWARDING}\nerror: could not write the result: no space left on device\n`,
    });
  });

  test('of a stopped instance ends with 5, and names the command that starts it', async () => {
    await sshThat([OPEN, LOST]);
    const { sleep } = world.clock;
    world.clock.sleep = (...given) => {
      instance = { ...instance, status: 'STOPPED' };
      return sleep(...given);
    };
    const { code, stderr } = await tunnel('0:app');
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: [
        ...[FORWARDING, LOST, RECONNECTING],
        "error: Can't connect to box: the instance is STOPPED.",
        'hint: start the instance (this bills): gpucloud instances start box --wait=ssh',
        '',
      ].join('\n'),
    });
  });
});
