import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { TEST_KEY } from '../../../support/run-cli.ts';
import { CREATE, type DeadlineWorld, deadlineWorld } from './world.ts';

const LOOP =
  "nohup sh -c 'while :; do gpucloud --profile work instances reap --every 5m; sleep 300; done' >/dev/null 2>&1 &";
const ALREADY = / Deadlines are enforced already: "instances reap" ran (?:\d+ s ago|now)\.\n/;

let world: DeadlineWorld;
let NAME: string;
beforeEach(async () => {
  world = await deadlineWorld({ signedIn: false });
  NAME = nameFor(world.home);
  mkdirSync(join(world.home, 'bin'));
  // Hides the real schedulers of the computer.
  for (const name of ['crontab', 'systemctl', 'launchctl', 'schtasks']) program(name, 'exit 1');
  const argv = ['login', '--profile', 'work', '--base-url', world.service.url, '--key-stdin'];
  const { code, stderr } = await world.cli([...argv, '--store', 'file'], {
    stdin: `${TEST_KEY}\n`,
  });
  expect(code, stderr).toBe(0);
});

const REAP = ['instances', 'reap'];
/** Returns the entry's name, which contains a hash of both folders. */
function nameFor(home: string): string {
  const folders = `${join(home, 'config')}\0${join(home, 'state')}`;
  return `gpucloud-reap-work-${createHash('sha256').update(folders).digest('hex').slice(0, 8)}`;
}

const at = (...names: string[]) => join(world.home, ...names);
const read = (...names: string[]) => readFileSync(at(...names), 'utf8');

/** Installs a shell script on PATH. `$STATE` is the world's home folder. */
function program(name: string, script: string): void {
  writeFileSync(at('bin', name), `#!/bin/sh\nSTATE='${world.home}'\n${script}\n`);
  chmodSync(at('bin', name), 0o755);
}

/** Installs a crontab that stores its input, and a ps that lists a cron that never runs. */
function crontabWith(lines?: string): void {
  if (lines !== undefined) writeFileSync(at('crontab'), lines);
  program('ps', 'echo "  1 init"; echo " 42 cron"');
  program(
    'crontab',
    `case $1 in
      -l) cat "$STATE/crontab" 2>/dev/null || { echo "no crontab for me" >&2; exit 1; } ;;
      -) cat > "$STATE/crontab" ;;
      *) exit 2 ;;
    esac`,
  );
}

/** Installs a systemctl that starts a service by writing its heartbeat. */
function systemctlLeaving(heartbeat: object): void {
  const text = JSON.stringify({
    version: 1,
    service: world.service.url,
    every: 300_000,
    ...heartbeat,
  });
  program(
    'systemctl',
    `echo "$*" >> "$STATE/calls"
    UNITS="\${XDG_CONFIG_HOME:-$STATE/.config}/systemd/user"
    case "$*" in
      '--user start --no-block ${NAME}.service')
        test -f "$UNITS/${NAME}.service" || exit 5
        mkdir -p "$STATE/state/reap" && printf '%s' '${text}' > "$STATE/state/reap/work.json" ;;
      '--user enable --now ${NAME}.timer') test -f "$UNITS/${NAME}.timer" ;;
    esac`,
  );
}

type Env = Readonly<Record<string, string>>;
const onPath = () => ({ PATH: `${at('bin')}:/usr/bin:/bin` });
const cli = (argv: readonly string[], options = {}) =>
  world.cli(argv, { env: onPath(), ...options });
const now = () => new Date(world.clock.now()).toISOString();

describe('reap --install', () => {
  test('enforces deadlines once the first systemd run succeeds', async () => {
    const features = ['deadline', 'idle', 'job', 'rescue'];
    systemctlLeaving({ account: 'user-1', at: now(), program: '9.9.9', features });
    await cli([...REAP, '--install', '--json'], { env: { ...onPath(), XDG_CONFIG_HOME: '' } });
    const unit = read('.config', 'systemd', 'user', `${NAME}.service`);
    expect(unit).toContain(
      `"GPUCLOUD_CONFIG_DIR=${at('config')}" "GPUCLOUD_STATE_DIR=${at('state')}"`,
    );
    expect(unit).toContain('"--profile" "work" "instances" "reap" "--every" "5m"');
    expect(unit).not.toContain('svc_sk_');
    expect(read('calls').trim().split('\n')).toEqual([
      '--user show-environment',
      '--user daemon-reload',
      `--user enable --now ${NAME}.timer`,
      `--user start --no-block ${NAME}.service`,
    ]);
    expect((await cli([...CREATE, '--terminate-after', '4h'])).code).toBe(0);
  });

  test("exits with 1 if a repeated installation doesn't start a run", async () => {
    systemctlLeaving({ account: 'user-1', at: now() });
    expect((await cli([...REAP, '--install'])).code).toBe(0);
    // This systemctl starts no run.
    program('systemctl', 'exit 0');
    await cli([...REAP, '--install']);
  });

  test('exits with 1 and prints why the scheduled run failed', async () => {
    systemctlLeaving({
      account: null,
      at: null,
      failure: { at: now(), message: 'The keyring is locked.' },
    });
    await cli([...REAP, '--install', '--json']);
    // The same failure again is not that of this installation.
    await cli([...REAP, '--install', '--json']);
    expect((await cli([...CREATE, '--terminate-after', '4h'])).code).toBe(2);
  });

  test('keeps other crontab lines, and exits with 1 if cron never runs the entry', async () => {
    crontabWith('MAILTO=me\n0 4 * * * backup % daily\n');
    await cli([...REAP, '--install', '--every', '10m']);
    const lines = read('crontab').split('\n');
    expect(lines.slice(0, 2)).toEqual(['MAILTO=me', '0 4 * * * backup % daily']);
    expect(lines[2]).toMatch(
      new RegExp(`^\\*/10 \\* \\* \\* \\* .* reap --every 10m .* # ${NAME}$`),
    );
    expect(lines).toHaveLength(4);
  });

  test('schedules nothing if cron does not run', async () => {
    crontabWith('MAILTO=me\n');
    // Another process may use crontab at this moment.
    program('ps', 'echo "  1 init"; echo " 42 crontab"');
    await cli([...REAP, '--install']);
    expect(read('crontab')).toBe('MAILTO=me\n');
    expect(world.clock.slept).toEqual([]);
  });

  test.each([
    ['hidden', 'echo " 41 sh"'],
    ['not listed', 'exit 1'],
  ])("waits for cron if other users' processes are %s", async (_how, script) => {
    crontabWith();
    program('ps', script);
    expect((await cli([...REAP, '--install'])).code).toBe(1);
    expect(read('crontab')).toContain(NAME);
  });

  test.each([26, -26])(
    'waits 9 minutes for cron even if the clock jumps by %i hours',
    async (hours) => {
      crontabWith();
      const { clock } = world;
      const { sleep } = clock;
      let isSet = false;
      clock.sleep = async (...given) => {
        if (!isSet) clock.step(hours * 3_600_000);
        isSet = true;
        await sleep(...given);
      };
      expect((await cli([...REAP, '--install'])).code).toBe(1);
      // Waits one interval of 5 minutes until cron starts the run, and 4 minutes for the run.
      expect(clock.slept.reduce((sum, pause) => sum + pause, 0)).toBe(9 * 60_000);
    },
  );

  test("replaces and removes only gpucloud's line in the crontab", async () => {
    const others = 'MAILTO=me\n# gpucloud-reap-workshop\n1 1 * * * x # gpucloud-reap-other\n';
    crontabWith(others);
    await cli([...REAP, '--install']);
    await cli([...REAP, '--install', '--every', '10m']);
    expect(
      read('crontab')
        .split('\n')
        .filter((line) => line.endsWith(` # ${NAME}`)),
    ).toHaveLength(1);
    const { code, stdout } = await cli([...REAP, '--uninstall', '--json']);
    expect({ code, status: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      status: { armed: false, scheduler: null },
    });
    expect(read('crontab')).toBe(others);
  });

  test('adds a line to an empty crontab', async () => {
    crontabWith();
    await cli([...REAP, '--install']);
    expect(read('crontab').split('\n')).toHaveLength(2);
  });

  test('exits with 2 if the user may not use crontab', async () => {
    program('crontab', 'echo "You are not allowed to use this program" >&2; exit 1');
    await cli([...REAP, '--install']);
  });

  test('leaves a crontab unchanged if it becomes unreadable', async () => {
    const lines = '0 4 * * * backup\n';
    crontabWith(lines);
    const script = readFileSync(at('bin', 'crontab'), 'utf8').replace('#!/bin/sh\n', '');
    const once = 'test -e "$STATE/read" && test "$1" = -l && exit 1; touch "$STATE/read"';
    program('crontab', `${once}\n${script}`);
    await cli([...REAP, '--install']);
    expect(read('crontab')).toBe(lines);
  });

  test('exits with 2 and prints the command for another scheduler', async () => {
    await cli([...REAP, '--install']);
    await cli([...REAP, '--every', '5m']);
    expect((await cli([...REAP, '--install'])).stderr).toMatch(ALREADY);
  });

  test('prints the command on one line of a terminal, to paste it', async () => {
    const { stderr } = await cli([...REAP, '--install'], { terminal: true, columns: 80 });
    expect(stripVTControlCharacters(stderr).split('\n').slice(-5)).toEqual([
      'hint: run this with another scheduler every 5 min:',
      expect.stringMatching(/^\/usr\/bin\/env .+ --profile work instances reap --every 5m$/),
      'or run this loop in the background, again after each reboot:',
      LOOP,
      '',
    ]);
  });

  test.each([
    ['exit 0', 'gpucloud instances reap --install'],
    ['exit 1', LOOP],
  ])('suggests what works on this computer, if systemctl says %s', async (script, command) => {
    program('systemctl', script);
    await cli([...CREATE, '--terminate-after', '4h', '--unenforced']);
    const { stdout } = await cli(['status', '--json']);
    const code = 'deadline_unenforced';
    const commands = (text: string) =>
      JSON.parse(text).attention.filter((one: { code: string }) => one.code === code);
    expect(commands(stdout)).toMatchObject([{ command }]);
    const other = await cli(['--profile', 'work', 'status', '--json']);
    const own = command.replace(/gpucloud(?! --profile)/, 'gpucloud --profile work');
    expect(commands(other.stdout)).toMatchObject([{ command: own }]);
  });

  test.each([
    ['a flag', ['--profile', 'work'], {}],
    ['the environment', [], { GPUCLOUD_PROFILE: 'work' }],
    ['the config file', [], { SHELL: '/opt/nu/bash' }],
  ])('names a profile from %s in the loop', async (_source, flags, env) => {
    const argv = [...flags, ...CREATE, '--terminate-after', '4h'];
    await cli(argv, { env: { ...onPath(), ...env } });
  });

  test.each(['/usr/bin/nu', '/opt/microsoft/powershell/7/pwsh', 'tcsh'])(
    'starts the loop with sh for %s',
    async (SHELL) => {
      const argv = [...CREATE, '--terminate-after', '4h'];
      const { stderr } = await cli(argv, { env: { ...onPath(), SHELL } });
      expect(stderr.split('\n').slice(-2)).toEqual([`sh -c "${LOOP}"`, '']);
    },
  );

  test.each([
    ['a key', () => ({ GPUCLOUD_API_KEY: TEST_KEY })],
    ["the profile's own base URL", () => ({ GPUCLOUD_BASE_URL: world.service.url })],
  ])('rejects --install with %s from the environment', async (_what, variable) => {
    crontabWith();
    await cli([...REAP, '--install'], {
      env: { ...onPath(), ...variable() },
    });
    expect(existsSync(at('crontab'))).toBe(false);
  });

  test('stores a proxy in the systemd unit unless the proxy has a password', async () => {
    systemctlLeaving({ account: 'user-1', at: now() });
    const env = {
      ...onPath(),
      HTTPS_PROXY: 'http://proxy.example:3128',
      https_proxy: 'http://me:secret@proxy.example:3128',
      ...{ NO_PROXY: '', XDG_CONFIG_HOME: at('xdg') },
    };
    await world.cli([...REAP, '--install'], { env });
    const unit = read('xdg', 'systemd', 'user', `${NAME}.service`);
    expect(unit.match(/\w+_proxy=[^"]*/gi)).toEqual(['HTTPS_PROXY=http://proxy.example:3128']);
  });

  test('schedules the sandbox, which needs no stored key', async () => {
    crontabWith();
    await cli([...REAP, '--install'], { env: { ...onPath(), GPUCLOUD_PROFILE: 'sandbox' } });
    expect(read('crontab')).toContain(' --profile sandbox instances reap ');
  });

  test('loads a launchd agent for reap on macOS', async () => {
    const heartbeat = {
      version: 1,
      service: world.service.url,
      account: 'user-1',
      every: 300_000,
      at: now(),
    };
    program(
      'launchctl',
      `echo "$*" >> "$STATE/calls"
      case $1 in
        bootstrap) test -f "$3" && mkdir -p "$STATE/state/reap" &&
          printf '%s' '${JSON.stringify(heartbeat)}' > "$STATE/state/reap/work.json" ;;
        bootout) exit 3 ;;
      esac`,
    );
    await cli([...REAP, '--install', '--json'], {
      platform: 'darwin',
    });
    const plist = at('Library', 'LaunchAgents', `${NAME}.plist`);
    expect(existsSync(plist)).toBe(true);
    await cli([...REAP, '--uninstall'], { platform: 'darwin' });
    expect(existsSync(plist)).toBe(false);
  });
});

describe('Windows Task Scheduler', () => {
  const windows = (...argv: string[]) => cli([...REAP, ...argv], { platform: 'win32' });

  /**
   * Installs a schtasks that stores tasks as files, and writes the heartbeat `leaves` when it runs
   * one.
   */
  function schtasksLeaving(leaves: object): void {
    const heartbeat = { version: 1, service: world.service.url, every: 300_000, ...leaves };
    mkdirSync(at('tasks'));
    program(
      'schtasks',
      `echo "$*" >> "$STATE/calls"
      task="$STATE/tasks/$3"
      case "$1 $2" in
        '/? ') ;;
        '/Create /TN')
          test "$4 $6" = '/XML /F' || exit 1
          test "$(head -c 2 "$5" | od -An -tx1)" = ' ff fe' || exit 1
          cp "$5" "$task" ;;
        '/Run /TN')
          test -f "$task" || exit 1
          mkdir -p "$STATE/state/reap"
          printf '%s' '${JSON.stringify(heartbeat)}' > "$STATE/state/reap/work.json" ;;
        '/Query /TN')
          test -f "$task" || { echo 'ERROR: The system cannot find the file specified.' >&2; exit 1; }
          printf '"\\\\%s","N/A","Ready"\\r\\n' "$3" ;;
        '/Delete /TN') test "$4" = /F && rm "$task" ;;
        *) exit 1 ;;
      esac`,
    );
  }

  test('runs the task after --install, and removes it with --uninstall', async () => {
    schtasksLeaving({ account: 'user-1', at: now() });
    await windows('--install', '--json');
    const task = readFileSync(at('tasks', NAME), 'utf16le');
    expect(task).toContain(
      `set "GPUCLOUD_CONFIG_DIR=${at('config')}"&amp;set "GPUCLOUD_STATE_DIR=${at('state')}"&amp;`,
    );
    expect(task).toContain('"--profile" "work" "instances" "reap" "--every" "5m""</Arguments>');
    expect(task).not.toContain('svc_sk_');
    const calls = read('calls').trim().split('\n');
    expect(calls.map((call) => call.replace(/\/XML \S+/, '/XML FILE'))).toEqual([
      '/?',
      `/Create /TN ${NAME} /XML FILE /F`,
      `/Run /TN ${NAME}`,
      `/Query /TN ${NAME} /FO CSV /NH`,
    ]);
    const removed = await windows('--uninstall');
    expect(removed).toMatchObject({ code: 0, stderr: `Removed ${NAME} (schtasks).\n` });
    expect(existsSync(at('tasks', NAME))).toBe(false);
    const status = JSON.parse((await windows('--status', '--json')).stdout);
    expect(status).toMatchObject({ armed: false, scheduler: null });
  });

  test('reports the error of schtasks, and schedules nothing', async () => {
    program('schtasks', '[ "$1" = /? ] || { echo "ERROR: Access is denied." >&2; exit 1; }');
    await windows('--install');
  });

  test('exits with 2 and prints the command if schtasks is missing', async () => {
    const { stderr } = await windows('--install');
    expect(stderr).not.toContain('/usr/bin/env');
    await cli([...CREATE, '--terminate-after', '4h'], { platform: 'win32' });
  });
});

describe('reap --uninstall', () => {
  test('removes the timer, and stops enforcing deadlines immediately', async () => {
    systemctlLeaving({ account: 'user-1', at: now() });
    await cli([...REAP, '--install']);
    await cli([...REAP, '--uninstall']);
    expect(existsSync(at('.config', 'systemd', 'user', `${NAME}.timer`))).toBe(false);
    expect(read('calls')).toContain(`--user disable --now ${NAME}.timer\n`);
    expect((await cli([...CREATE, '--terminate-after', '4h'])).code).toBe(2);
  });

  test('succeeds in reap --uninstall if nothing is scheduled', async () => {
    expect((await cli([...REAP, '--uninstall'])).code).toBe(0);
  });
});

describe('schedules of several state folders', () => {
  const STATUS = [...REAP, '--status', '--json'];
  const status = async (env: Env = {}) => {
    const { stdout } = await cli(STATUS, { env: { ...onPath(), ...env } });
    return JSON.parse(stdout);
  };
  const runByCron = async (entry: string, env: Env = {}) => {
    const own = { ...onPath(), ...env, GPUCLOUD_REAP_ENTRY: entry };
    return cli(['--profile', 'work', ...REAP, '--every', '5m'], { env: own });
  };

  test("enforces deadlines only in the schedule's own state folder", async () => {
    crontabWith();
    await cli([...REAP, '--install']);
    const second = { GPUCLOUD_STATE_DIR: at('second') };
    expect((await runByCron(NAME)).code).toBe(0);
    expect(await status()).toMatchObject({ armed: true, scheduler: 'crontab' });
    // Copies the state folder with its heartbeat.
    cpSync(at('state'), at('second'), { recursive: true });
    expect(await status(second)).toMatchObject({
      armed: false,
      scheduler: null,
      reason: `schedule ${NAME} not found`,
    });
    await cli([...CREATE, '--terminate-after', '4h'], {
      env: { ...onPath(), ...second },
    });
    await cli([...REAP, '--install'], { env: { ...onPath(), ...second } });
    const lines = read('crontab').trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(new RegExp(` GPUCLOUD_STATE_DIR=${at('state')} .* # ${NAME}$`));
    expect(lines[0]).toContain(` GPUCLOUD_REAP_ENTRY=${NAME} `);
    expect(lines[1]).toContain(` GPUCLOUD_STATE_DIR=${at('second')} `);
    await cli([...REAP, '--uninstall'], { env: { ...onPath(), ...second } });
    expect(read('crontab')).toBe(`${lines[0]}\n`);
    expect(await status()).toMatchObject({ armed: true });
  });

  test('reports deadlines as unenforced after a schedule is removed by hand, despite a recent heartbeat', async () => {
    crontabWith();
    await cli([...REAP, '--install']);
    await runByCron(NAME);
    crontabWith('0 4 * * * backup\n');
    expect(await status()).toMatchObject({ armed: false, reason: `schedule ${NAME} not found` });
    const { stderr } = await cli([...CREATE, '--terminate-after', '4h']);
    expect(stderr).toContain(`schedule ${NAME} not found`);
    // A run from another scheduler has no entry name.
    await cli([...REAP, '--every', '5m']);
    expect(await status()).toMatchObject({ armed: true, scheduler: null });
  });
});

test('prints in reap --status how long ago a stopped schedule last ran', async () => {
  systemctlLeaving({ account: 'user-1', at: now() });
  await cli([...REAP, '--install']);
  world.clock.advance(3_600_500);
  await cli([...REAP, '--status', '--json']);
});
