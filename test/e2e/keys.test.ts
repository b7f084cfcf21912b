import { spawn } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import {
  ASKS_KEYRING,
  type Computer,
  createComputer,
  heard,
  type Outcome,
  outcomeOf,
  PROGRAM,
  RUNNER,
} from '../support/program.ts';
import { until } from '../support/until.ts';

let server: ReturnType<Computer['start']>;
let sandbox: Computer;
let url: string;
let key: string;
let computer: Computer;

beforeAll(async () => {
  sandbox = await createComputer();
  server = sandbox.start(['sandbox', 'serve', '--port', '0', '--json']);
  ({ url, api_key: key } = JSON.parse(await heard(server, 'stdout', /\n/)));
});
afterAll(async () => {
  const ended = outcomeOf(server);
  server.kill('SIGTERM');
  await ended;
  await sandbox.remove();
});
beforeEach(async () => {
  computer = await createComputer();
});

const configOf = async () =>
  JSON.parse(await readFile(join(computer.home, 'config', 'config.json'), 'utf8'));

/** Puts a program on PATH that prints a key like a password manager. */
async function manager(script: string): Promise<Record<string, string>> {
  const bin = join(computer.home, 'bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, 'vault'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: `${bin}:${computer.env.PATH}` };
}

describe('a password manager', () => {
  const login = (env: Record<string, string>, command: string) =>
    computer.gpucloud(['login', '--base-url', url, '--key-command', command], { env });

  test("uses a password manager's first printed line as the key, and neither stores nor shows it", async () => {
    const env = await manager(
      `echo "$@" >> "$HOME/calls"; echo unlocking ${key} >&2; echo ${key}; echo note: x`,
    );
    const signed = await login(env, `vault show 'gpu cloud' --field "a b"`);
    expect(signed).toMatchObject({ code: 0 });
    expect(signed.stderr).toContain(
      "Each command reads the key with \"vault show 'gpu cloud' --field 'a b'\"",
    );
    expect(signed.stdout).toContain('Key in:    command');
    expect((await configOf()).profiles.default.key_command).toEqual([
      'vault',
      'show',
      'gpu cloud',
      '--field',
      'a b',
    ]);

    const me = await computer.gpucloud(['me', 'get'], { env });
    expect(me).toMatchObject({ code: 0 });
    expect(me.stderr).toContain('unlocking svc_sk_…');
    const json = await computer.gpucloud(['me', 'get', '--json'], { env });
    expect(json).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(join(computer.home, 'calls'), 'utf8')).toBe(
      'show gpu cloud --field a b\n'.repeat(3),
    );
    const debug = await computer.gpucloud(['me', 'get', '--debug'], { env });
    const written = [signed, me, json, debug].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(written + JSON.stringify(await configOf())).not.toContain(key);
    // Commands that need no key must not run the program.
    await computer.gpucloud(['catalog', 'list'], { env });
    await computer.gpucloud(['profiles', 'list'], { env });
    expect((await readFile(join(computer.home, 'calls'), 'utf8')).split('\n')).toHaveLength(5);
  });

  test('runs the password manager without a shell', async () => {
    const env = await manager(`echo "$1" >> "$HOME/calls"; echo ${key}`);
    await login(env, 'vault $(touch$IFS$HOME/x);ls');
    expect(await readFile(join(computer.home, 'calls'), 'utf8')).toBe('$(touch$IFS$HOME/x);ls\n');
    await expect(stat(join(computer.home, 'x'))).rejects.toThrow();
  });

  test("does not wait for the password manager's background process", async () => {
    const env = await manager(`sleep 1000 & echo $! >> "$HOME/agents"; echo ${key}`);
    try {
      expect(await login(env, 'vault')).toMatchObject({ code: 0 });
      expect(await computer.gpucloud(['me', 'get'], { env })).toMatchObject({
        code: 0,
        stderr: '',
      });
    } finally {
      const agents = await readFile(join(computer.home, 'agents'), 'utf8');
      for (const id of agents.trim().split('\n')) process.kill(Number(id), 'SIGKILL');
    }
  });

  test.each([
    ['SIGINT', 130, 'Interrupted.\n'],
    ['SIGTERM', 143, 'error: Terminated.\n'],
    ['SIGHUP', 129, 'error: The terminal closed.\n'],
  ] as const)(
    'exits on %s with %i, whatever the password manager does on the signal',
    async (signal, exit, words) => {
      await login(await manager(`echo ${key}`), 'vault');
      const env = await manager(
        "trap '' INT TERM HUP; echo waiting >&2; while :; do sleep 0.05; done",
      );
      const child = computer.start(['me', 'get'], { env });
      const ended = outcomeOf(child);
      await heard(child, 'stderr', /waiting/);
      child.kill(signal);
      expect(await ended).toEqual({ code: exit, stdout: '', stderr: `waiting\n${words}` });
    },
  );

  test('runs the password manager in doctor only for the active profile', async () => {
    const env = await manager(`echo x >> "$HOME/calls"; echo ${key}`);
    await login(env, 'vault');
    await computer.gpucloud(['--profile', 'sandbox', 'doctor'], { env });
    expect(await readFile(join(computer.home, 'calls'), 'utf8')).toBe('x\n');
    const { stdout } = await computer.gpucloud(['doctor', '--json'], { env });
    const { checks } = JSON.parse(stdout);
    expect(checks.find(({ id }: { id: string }) => id === 'api_key')?.status).toBe('pass');
    expect(await readFile(join(computer.home, 'calls'), 'utf8')).toMatch(/^x\nx\n/);
  });
});

describe('without a keyring', () => {
  const login = (...flags: string[]) =>
    computer.gpucloud(['login', '--base-url', url, '--key-stdin', ...flags], { stdin: key });

  test('saves the key to a private file without a keyring, and prints a note', async () => {
    const signed = await login();
    expect(signed).toMatchObject({ code: 0 });
    expect(signed.stderr).toMatch(
      /Key saved to \S+config\.json \(mode 0600\)\. Could not save the key to the system keyring: /,
    );
    expect((await stat(join(computer.home, 'config', 'config.json'))).mode & 0o777).toBe(0o600);
  });

  test('fails without a keyring if one was required, and stores nothing', async () => {
    const refused = await login('--store', 'keyring');
    expect(refused).toMatchObject({ code: 9, stdout: '' });
    expect(refused.stderr).toContain('gpucloud login --store file');
    await expect(configOf()).rejects.toThrow();
  });

  test('exits with 4 if a key is in a missing keyring, and removes its reference at logout', async () => {
    await mkdir(join(computer.home, 'config'), { mode: 0o700 });
    await writeFile(
      join(computer.home, 'config', 'config.json'),
      JSON.stringify({ current: 'work', profiles: { work: { base_url: url, keyring: 'work 1' } } }),
      { mode: 0o600 },
    );
    const me = await computer.gpucloud(['me', 'get']);
    expect(me.code).toBe(4);
    expect(me.stderr).toContain("is in the system keyring, which can't be read: ");
    expect(me.stderr).toContain('hint: unlock the keyring');
    const out = await computer.gpucloud(['logout']);
    expect(out.code).toBe(9);
    expect(out.stderr).toContain('account "work 1"');
    expect((await configOf()).profiles.work).toEqual({ base_url: url });
  });

  test('waits at most three seconds for a bus that never responds', async () => {
    const socket = join(computer.home, 'bus');
    const silent: Server = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(socket, resolve));
    try {
      const refused = await computer.gpucloud(
        ['login', '--base-url', url, '--key-stdin', '--store', 'keyring'],
        { stdin: key, env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}` } },
      );
      expect(refused.code).toBe(9);
      expect(refused.stderr).toContain('it did not respond within 3 s');
    } finally {
      silent.close();
    }
  });

  test.each([
    ['login', ['login', '--base-url', 'URL', '--key-stdin', '--yes']],
    ['me get', ['me', 'get']],
    ['doctor', ['doctor', '--json']],
  ])(
    'reports an interrupt of "%s" as an interrupt, not as a keyring error',
    async (_name, words) => {
      await mkdir(join(computer.home, 'config'), { mode: 0o700 });
      const config = JSON.stringify({
        current: 'work',
        profiles: { work: { base_url: url, keyring: 'work 1' } },
      });
      await writeFile(join(computer.home, 'config', 'config.json'), config, { mode: 0o600 });
      const socket = join(computer.home, 'bus');
      const silent: Server = createServer();
      let asked = false;
      silent.once('connection', () => {
        asked = true;
      });
      await new Promise<void>((resolve) => silent.listen(socket, resolve));
      try {
        const argv = words.map((word) => (word === 'URL' ? url : word));
        const child = computer.start(argv, {
          env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}` },
        });
        const ended = outcomeOf(child, key);
        await until(() => asked);
        child.kill('SIGINT');
        const { code, stdout, stderr } = await ended;
        expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
        expect(stderr).toContain('Interrupted.');
        expect(stderr).not.toContain('keyring');
        expect(await readFile(join(computer.home, 'config', 'config.json'), 'utf8')).toBe(config);
      } finally {
        silent.close();
      }
    },
  );
});

const KEYRING = needs('dbus-run-session', 'gnome-keyring-daemon');

describe('gnome-keyring on its own bus', KEYRING, () => {
  /** Runs bash with a D-Bus session and an unlocked keyring. `gpucloud` is the built program. */
  async function session(lines: string): Promise<Outcome> {
    const script = `
      gpucloud() { "$NODE" "$PROGRAM" "$@"; }
      keyring() { ${ASKS_KEYRING.map((word) => `'${word}'`).join(' ')}; }
      printf 'password\\n' | gnome-keyring-daemon --unlock --components=secrets > /dev/null 2>&1
      ${lines}`;
    const child = spawn('dbus-run-session', ['--', 'bash', '-c', script], {
      cwd: computer.home,
      env: {
        ...computer.env,
        XDG_RUNTIME_DIR: computer.home,
        NODE: RUNNER,
        PROGRAM,
        KEY: key,
        URL: url,
      },
    });
    const { code, stdout, stderr } = await outcomeOf(child);
    return { code, stdout, stderr: stderr.replace(/^dbus-daemon\[.*\n/gm, '') };
  }

  const LOGIN = 'gpucloud login --base-url "$URL" --key-stdin --profile work --yes <<< "$KEY"';

  test('stores, returns and moves a key, and deletes the key at logout', async () => {
    const { code, stdout, stderr } = await session(`
      set -e
      ${LOGIN} --json
      gpucloud me get -q > me.txt
      cp config/config.json in-keyring.json
      gpucloud doctor --json > doctor.json || true
      gpucloud profiles move work --to file --json
      cp config/config.json in-file.json
      gpucloud me get -q | cmp - me.txt
      gpucloud profiles move work --to keyring --json
      cp config/config.json again.json
      gpucloud me get -q | cmp - me.txt
      gpucloud logout --json
      cp config/config.json out.json
      gpucloud me get 2>&1 || echo "exit $?"`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [signed, toFile, toKeyring, out] = stdout
      .split(/(?<=^\})\n/m)
      .map((text) => (text.startsWith('{') ? JSON.parse(text) : text));
    expect([signed, toFile, toKeyring, out].map(({ key_in }) => key_in)).toEqual([
      'keyring',
      'file',
      'keyring',
      null,
    ]);
    expect(stdout).toContain('exit 4');
    const file = (name: string) => readFile(join(computer.home, name), 'utf8');
    expect(await file('in-keyring.json')).not.toContain(key);
    expect(JSON.parse(await file('in-keyring.json')).profiles.work.keyring).toMatch(/^work \w{8}$/);
    expect(JSON.parse(await file('in-file.json')).profiles.work).toMatchObject({ api_key: key });
    expect(JSON.parse(await file('in-file.json')).profiles.work).not.toHaveProperty('keyring');
    expect(await file('again.json')).not.toContain(key);
    expect(await file('out.json')).not.toContain('keyring');
    const { checks } = JSON.parse(await file('doctor.json'));
    expect(checks.find(({ id }: { id: string }) => id === 'api_key')).toMatchObject({
      status: 'pass',
      message: expect.stringMatching(/, from the profile$/),
    });
  });

  test('exits with 4 if the keyring entry is missing, until a new login', async () => {
    const { code, stdout } = await session(`
      ${LOGIN} > /dev/null 2>&1
      entry=$(sed -n 's/.*"keyring": "\\(.*\\)".*/\\1/p' config/config.json)
      printf '{"op":"delete","service":"gpucloud","account":"%s"}' "$entry" | keyring
      gpucloud me get 2>&1; echo "exit $?"
      ${LOGIN} > /dev/null 2>&1; gpucloud me get -q; echo "exit $?"`);
    expect(code).toBe(0);
    expect(stdout).toContain('{"found":true}');
    expect(stdout).toMatch(
      /error: The key of the profile "work" is no longer in the system keyring .*\nhint: enter the key again: gpucloud login --profile work\nexit 4\n/,
    );
    expect(stdout).toMatch(/\nexit 0\n$/);
  });

  test('keeps one keyring entry and no other copy after a second login', async () => {
    const { code, stdout, stderr } = await session(`
      get() { printf '{"op":"get","service":"gpucloud","account":"%s"}' "$1" | keyring; }
      entry() { sed -n 's/.*"keyring": "\\(.*\\)".*/\\1/p' config/config.json; }
      ${LOGIN} > /dev/null 2>&1; one=$(entry)
      ${LOGIN} > /dev/null 2>&1; two=$(entry)
      [ "$one" != "$two" ] && get "$one"
      ${LOGIN} --store file > /dev/null 2>&1; get "$two"; entry
      ${LOGIN} > /dev/null 2>&1; three=$(entry)
      gpucloud profiles remove work -y > /dev/null 2>&1; get "$three"`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('{"found":null}\n'.repeat(3));
  });

  test('never shows the key among the arguments of a process', needs('strace'), async () => {
    const { code, stdout } = await session(`
      set -e
      gpucloud() { strace -f -qq -e trace=execve -s 100000 -A -o started.txt "$NODE" "$PROGRAM" "$@"; }
      ${LOGIN} > /dev/null 2>&1
      gpucloud me get -q > /dev/null
      gpucloud profiles move work --to file > /dev/null 2>&1
      gpucloud profiles move work --to keyring > /dev/null 2>&1
      gpucloud logout > /dev/null 2>&1
      cat started.txt`);
    expect(code).toBe(0);
    const started = stdout.split('\n').filter((line) => line.includes('execve('));
    const asked = started.filter((line) => line.includes(ASKS_KEYRING.at(-1) ?? 'nothing'));
    // The keyring program stores a key, reads it for `me`, reads and deletes it in both moves,
    // stores it again and deletes it.
    expect(asked.length).toBeGreaterThanOrEqual(6);
    expect(started.filter((line) => line.includes(key))).toEqual([]);
  });
});

describe('a new API key whose secret would be lost', () => {
  const env = () => ({ GPUCLOUD_BASE_URL: url, GPUCLOUD_API_KEY: key });
  test.each(['> >(exec true)', '--query data > >(exec true)', '-o jsonl > /dev/full'])(
    "prints the created API key's ID to stderr and exits with 9 after api %s",
    async (where) => {
      const line = `gpucloud api POST /api-keys -f name=lost --show-secrets ${where}`;
      const { code, stderr } = await computer.bash(line, { env: env() });
      expect(code).toBe(9);
      const { stdout } = await computer.gpucloud(['api-keys', 'list', '--json'], { env: env() });
      const [{ id }] = JSON.parse(stdout).filter(({ name }: { name: string }) => name === 'lost');
      expect(stderr).toContain(`Created API key ${id}, but could not print its secret`);
    },
  );

  test('creates the key if --key-file saves the secret, even with stdout closed', async () => {
    const line = 'gpucloud api-keys create kept --key-file ./kept.key >&-';
    expect((await computer.bash(line, { env: env() })).code).toBe(0);
    expect(await readFile(join(computer.home, 'kept.key'), 'utf8')).toMatch(/^svc_sk_/);
  });
});
