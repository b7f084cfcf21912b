import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Job } from '../../src/instances/scheduler/contract.ts';
import { cronLine } from '../../src/instances/scheduler/crontab.ts';
import { schedulersOf } from '../../src/instances/scheduler/index.ts';
import { agentFile } from '../../src/instances/scheduler/launchd.ts';
import { cmdArguments, taskFile } from '../../src/instances/scheduler/schtasks.ts';
import { serviceUnit, timerUnit } from '../../src/instances/scheduler/systemd.ts';
import { needs } from '../support/needs.ts';

const folder = mkdtempSync(join(tmpdir(), 'gpucloud-scheduler-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Text that every file format must quote. */
const ODD = `a b %d $HOME "quoted" it's <&> \\n`;

const JOB: Job = {
  name: 'gpucloud-reap-work',
  about: 'Terminate instances (100 % of them)',
  command: ['/usr/bin/printf', '%s|', ODD, '--every', '5m'],
  env: { GPUCLOUD_CONFIG_DIR: `/home/${ODD}`, GPUCLOUD_STATE_DIR: '/state' },
  every: 5 * 60_000,
};

describe('the systemd unit', () => {
  test(
    'generates a systemd unit that systemd-analyze verify accepts',
    needs('systemd-analyze'),
    () => {
      const files = { service: serviceUnit(JOB), timer: timerUnit(JOB) };
      const paths = Object.entries(files).map(([kind, text]) => {
        const path = join(folder, `${JOB.name}.${kind}`);
        writeFileSync(path, text);
        return path;
      });
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', ...paths], {
        encoding: 'utf8',
        env: { ...process.env, XDG_RUNTIME_DIR: folder },
      });
      const own = stderr.split('\n').filter((line) => line.includes(JOB.name));
      expect({ status, own }).toEqual({ status: 0, own: [] });
    },
  );

  test('runs the systemd unit every five minutes, and catches up on missed runs', () => {
    expect(timerUnit(JOB)).toMatch(/^OnCalendar=\*:0\/5$/m);
    expect(timerUnit(JOB)).toMatch(/^Persistent=true$/m);
  });

  test('escapes arguments and variables in the systemd unit', () => {
    const unit = serviceUnit(JOB);
    expect(unit).toContain(`"a b %%d $$HOME \\"quoted\\" it's <&> \\\\n"`);
    expect(unit).toContain(`"GPUCLOUD_CONFIG_DIR=/home/a b %%d $HOME \\"quoted\\" it's <&> \\\\n"`);
  });
});

test.each([
  'darwin',
  // Without a systemd of the user, such as in a container, cron is left.
  'linux',
  'win32',
  'freebsd',
])('offers the schedulers of %s, best first, each with its limits', (platform) => {
  const start = () => {
    throw new Error('nothing is started');
  };
  const all = schedulersOf(platform, { start, home: folder, uid: 1000, configHome: undefined });
  const shown = all.map(({ name, note, startsWithin }) => {
    return [name, note, startsWithin(JOB) / 60_000];
  });
  expect(shown).toMatchSnapshot();
});

test('writes a launchd property list with the same arguments', needs('python3'), () => {
  const path = join(folder, 'agent.plist');
  writeFileSync(path, agentFile(JOB));
  const script =
    'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))';
  const { stdout, stderr } = spawnSync('python3', ['-c', script, path], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    Label: JOB.name,
    ProgramArguments: JOB.command,
    EnvironmentVariables: JOB.env,
    StartInterval: 300,
    RunAtLoad: true,
  });
});

describe('the Windows task', () => {
  // Windows allows all these characters in folder names.
  const folders = `C:\\Users\\Zoë & <Co> ^!(1)\\AppData`;
  const job: Job = {
    ...JOB,
    about: 'Terminate <instances> & more',
    command: ['C:\\Program Files\\gpucloud.exe', '--every', '5m'],
    env: { GPUCLOUD_CONFIG_DIR: folders, GPUCLOUD_STATE_DIR: 'D:\\state' },
  };

  test('runs the Windows task every five minutes, also on battery power', needs('python3'), () => {
    const path = join(folder, 'task.xml');
    writeFileSync(path, `\ufeff${taskFile(job)}`, 'utf16le');
    const script = `import json, sys, xml.etree.ElementTree as tree
print(json.dumps({e.tag.split("}")[1]: e.text for e in tree.parse(sys.argv[1]).iter() if len(e) == 0}))`;
    const { stdout, stderr } = spawnSync('python3', ['-c', script, path], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      Description: job.about,
      Interval: 'PT5M',
      StopAtDurationEnd: 'false',
      StartBoundary: '2020-01-01T00:00:00',
      LogonType: 'InteractiveToken',
      RunLevel: 'LeastPrivilege',
      MultipleInstancesPolicy: 'Parallel',
      DisallowStartIfOnBatteries: 'false',
      StopIfGoingOnBatteries: 'false',
      StartWhenAvailable: 'true',
      Enabled: 'true',
      Command: '%SystemRoot%\\System32\\cmd.exe',
      Arguments: cmdArguments(job),
    });
  });

  test("sets the Windows task's variables before the command", () => {
    expect(cmdArguments(job)).toBe(
      `/d /v:off /s /c "set "GPUCLOUD_CONFIG_DIR=${folders}"&set "GPUCLOUD_STATE_DIR=D:\\state"&` +
        `"C:\\Program Files\\gpucloud.exe" "--every" "5m""`,
    );
  });

  test.each(['C:\\100%\\state', 'a"b', 'a\nb'])('throws for %j, which cmd would change', (path) => {
    expect(() => cmdArguments({ ...job, env: { GPUCLOUD_STATE_DIR: path } })).toThrow(
      `can't contain "%" or line breaks`,
    );
  });
});

describe('the crontab line', () => {
  test('passes the same arguments through cron and the shell', needs('POSIX'), () => {
    const line = cronLine(JOB);
    expect(line).toMatch(/^\*\/5 \* \* \* \* \/usr\/bin\/env /);
    expect(line).toMatch(/ # gpucloud-reap-work$/);
    // Cron ends a command at an unescaped percent sign, and removes the escaping backslash.
    const command = line
      .replace(/^(\S+ ){5}/, '')
      .replace(/(?<!\\)%.*$/, '')
      .replaceAll('\\%', '%')
      .replace('>/dev/null 2>&1', '');
    const { stdout } = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8', env: {} });
    expect(stdout).toBe(`${ODD}|--every|5m|`);
  });

  test('throws if cron would truncate the line', () => {
    const longer = (by: number) =>
      cronLine({ ...JOB, env: { ...JOB.env, GPUCLOUD_STATE_DIR: `/state${'x'.repeat(by)}` } });
    const most = 990 - cronLine(JOB).length;
    expect(longer(most)).toHaveLength(990);
    expect(() => longer(most + 1)).toThrow("doesn't fit in a crontab line");
  });
});
