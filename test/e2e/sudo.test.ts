import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Computer, createComputer } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';

const [USER, STRANGER] = [65_534, 4711];

let computer: Computer;
let home: string;
/** Variables that `sudo -E` keeps. */
let env: Record<string, string>;
beforeEach(async () => {
  computer = await createComputer();
  chmodSync(computer.home, 0o755);
  home = join(computer.home, 'user');
  mkdirSync(home);
  chownSync(home, USER, USER);
  const folders = { HOME: home, GPUCLOUD_CONFIG_DIR: '', GPUCLOUD_STATE_DIR: '' };
  // Compiled code is stored in the user's home folder too.
  env = { ...folders, NODE_DISABLE_COMPILE_CACHE: '' };
});

const sandbox = (...argv: string[]) =>
  computer.gpucloud(['--profile', 'sandbox', ...argv], { env });

/** Returns every file below the user's home folder that belongs to another user. */
function foreign(): string[] {
  const all = readdirSync(home, { recursive: true, encoding: 'utf8' });
  return all.filter((name) => lstatSync(join(home, name)).uid !== USER);
}

describe("root with another user's home folder", needs('another user'), () => {
  test('leaves every file and folder to the user', async () => {
    for (const argv of [
      ['instances', 'reap'],
      ['instances', 'create', 'box', ...HARDWARE, '-y'],
      ['instances', 'create', 'timed', ...HARDWARE, '-y'].concat(
        '--terminate-after=4h',
        '--unenforced',
      ),
      ['instances', 'list'],
      ['instances', 'expire', 'timed', '--after', '2h', '-y'],
      ['catalog', 'add', 'offer', HARDWARE[1], '--name', 'fast'],
      ['profiles', 'use', 'sandbox'],
      ['instances', 'terminate', 'timed', '--yes'],
    ]) {
      const { code, stderr } = await sandbox(...argv);
      expect(code, `${argv.join(' ')}: ${stderr}`).toBe(0);
    }
    expect(readdirSync(home).sort()).toEqual(['.cache', '.config', '.local']);
    expect(foreign()).toEqual([]);
  });

  test('refuses to store a key in the home folder of another user', async () => {
    const login = ['login', '--key-stdin', '--base-url', 'https://api.example.com'];
    const refused = await computer.gpucloud(login, { env, stdin: 'svc_sk_test_0123456789' });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(`${home} belongs to another user (uid ${USER})`);
    expect(refused.stderr).toContain(`hint: sudo -u '#${USER}' gpucloud\n`);
  });

  test('refuses the state folder of a user who does not own the home folder', async () => {
    const state = join(computer.home, 'theirs');
    mkdirSync(state);
    chownSync(state, STRANGER, STRANGER);
    for (const folder of [state, join(state, 'new')]) {
      const theirs = { ...env, GPUCLOUD_STATE_DIR: folder };
      const list = ['--profile', 'sandbox', 'instances', 'list'];
      const { code, stdout, stderr } = await computer.gpucloud(list, { env: theirs });
      expect({ code, stdout, stderr }).toEqual({
        code: 4,
        stdout: '',
        stderr: [
          `error: Refused to use the journal: ${state} belongs to another user (uid ${STRANGER}).`,
          `hint: sudo -u '#${STRANGER}' gpucloud\n`,
        ].join('\n'),
      });
    }
    expect(readdirSync(state)).toEqual([]);
  });

  test('ignores a record of another user, and doctor names it', async () => {
    expect((await sandbox('instances', 'create', 'box', ...HARDWARE)).code).toBe(0);
    const state = join(home, '.local', 'state', 'gpucloud');
    const record = readdirSync(join(state, 'journal'), { recursive: true, encoding: 'utf8' }).find(
      (name) => name.endsWith('.json'),
    );
    const path = join(state, 'journal', record ?? '');
    chownSync(path, STRANGER, STRANGER);
    const { code, stderr } = await sandbox('instances', 'terminate', 'box', '--yes');
    expect(code).toBe(3);
    expect(stderr).toContain(`${path} (it belongs to another user, uid ${STRANGER})`);
    // The file of a doctor that checks at the same time.
    writeFileSync(join(state, '.doctor.abc.tmp'), '');
    const { checks } = JSON.parse((await sandbox('doctor', '--json')).stdout);
    expect(checks.find(({ id }: { id: string }) => id === 'state_folder')).toEqual({
      id: 'state_folder',
      status: 'fail',
      message: `${path} belongs to another user, so gpucloud may miss instances`,
      hint: `sudo chown -R ${USER} ${state}`,
    });
    spawnSync('chown', ['-R', String(USER), state]);
    expect((await sandbox('instances', 'terminate', 'box', '--yes')).code).toBe(0);
  });
});
