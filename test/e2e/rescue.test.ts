import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { needs, programAt } from '../support/needs.ts';
import { type Computer, createComputer } from '../support/program.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { makeKey } from '../support/sshd.ts';

const HARDWARE = ['--offer', 'A100 80GB', '--image', 'Ubuntu 22.04', '--ssh-key', 'laptop'];
const env = { GPUCLOUD_PROFILE: 'sandbox', SSH_AUTH_SOCK: '' };

interface Row {
  readonly outcome: string;
}

let computer: Computer;

describe('instances with --rescue', { timeout: 120_000, ...needs('ssh') }, () => {
  beforeAll(async () => {
    computer = await createComputer();
    mkdirSync(join(computer.home, '.ssh'), { mode: 0o700 });
    const key = makeKey(join(computer.home, '.ssh'), 'id_ed25519');
    await done('sandbox', 'reset', '--yes');
    await done('ssh-keys', 'add', '--name', 'laptop', `${key}.pub`);
  }, 60_000);
  afterEach(async () => {
    await late('1m');
    await done('instances', 'list');
    await done('instances', 'terminate', '--all', '--yes', '--wait');
    rmSync(here(), { recursive: true, force: true });
  });
  afterAll(async () => {
    await done('sandbox', 'reset', '--yes');
    await computer.remove();
  });

  const here = (...path: string[]) => join(computer.home, 'rescued', ...path);
  const gpucloud = (...argv: string[]) => computer.gpucloud(argv, { env });
  const reap = async () => {
    const { code, stdout, stderr } = await gpucloud('instances', 'reap', '--json');
    return { code, rows: JSON.parse(stdout || '[]'), stderr };
  };

  async function done(...argv: string[]) {
    const outcome = await gpucloud(...argv);
    expect(outcome.code, outcome.stderr).toBe(0);
    return outcome;
  }

  async function create(name: string, ...more: string[]) {
    const ends = ['--terminate-after', '1h', '--unenforced', '--wait=ssh'];
    await done('instances', 'create', name, ...HARDWARE, ...ends, ...more);
  }

  const there = (name: string, script: string) => done('instances', 'ssh', name, '--', script);
  const late = (time: string) => done('sandbox', 'advance', time);
  const statusOf = async (name: string) =>
    JSON.parse((await done('instances', 'get', name, '--json')).stdout).status;

  test('are copied before their deadline, again at it, and then terminated', async () => {
    await create(
      'trainer',
      '--rescue',
      `results:${here('results')}`,
      '--rescue',
      `*.txt:${here('txt')}`,
    );
    await there(
      'trainer',
      "mkdir -p results/deep; head -c 300000 /dev/urandom > results/deep/'a b'; printf 1 > results/deep/\"$(printf 'a\\\\b\\r')\"; echo 1 > x.txt",
    );
    await late('54m');
    expect(await reap()).toMatchObject({ code: 0, rows: [] });
    expect(readFileSync(here('txt', 'x.txt'), 'utf8')).toBe('1\n');
    await there('trainer', 'echo 2 > x.txt; echo new > results/new; sha256sum results/deep/*');
    await late('7m');
    const { code, rows, stderr } = await reap();
    expect({ code, rows }, stderr).toMatchObject({
      code: 0,
      rows: [
        {
          name: 'trainer',
          outcome: 'terminated',
          reason: 'deadline',
          rescued: [
            { remote: 'results', files: 3, bytes: 300_005, changing: [], failure: null },
            { remote: '*.txt', files: 1, bytes: 2, changing: [], failure: null },
          ],
        },
      ],
    });
    expect(readFileSync(here('txt', 'x.txt'), 'utf8')).toBe('2\n');
    expect(readFileSync(here('results', 'new'), 'utf8')).toBe('new\n');
    const hashes = join(computer.home, 'state', 'rescues', `${rows[0].id}.sha256`);
    expect(spawnSync('sha256sum', ['-c', hashes], { encoding: 'utf8' }).stdout).toMatch(
      /^([^\n]+: OK\n){4}$/,
    );
  });

  test('are kept by two passes at once on a full disk, then copied and terminated once', {
    ...needs('the right to mount'),
  }, async () => {
    const disk = await mountSmallDisk('1m');
    onTestFinished(disk.remove);
    const out = join(disk.path, 'out');
    await create('full', '--rescue', `out:${out}`);
    await there('full', 'mkdir out; head -c 3000000 /dev/zero > out/big; echo kept > out/small');
    await late('61m');
    const both = async () => {
      const passes = await Promise.all([reap(), reap()]);
      const rows = passes.flatMap((pass) => pass.rows.map(({ outcome }: Row) => outcome));
      return { rows, codes: passes.map(({ code }) => code) };
    };
    const kept = await both();
    expect(kept.codes).toContain(9);
    expect(new Set(kept.rows)).toEqual(new Set(['kept']));
    expect(readdirSync(out)).toEqual(['small']);
    execFileSync('mount', ['-o', 'remount,size=16m', disk.path]);
    const ended = await both();
    expect(ended.codes).toEqual([0, 0]);
    expect(ended.rows.filter((outcome) => outcome !== 'already_ended')).toEqual(['terminated']);
    expect(readdirSync(out).sort()).toEqual(['big', 'small']);
  });

  test('leave no hidden folder after kill -9 of a copy by hand or a pass, once it has run again', async () => {
    const bin = join(computer.home, 'slow');
    mkdirSync(bin, { recursive: true });
    // Keeps the connection open after the files, as a slow link does.
    const tar = `#!/bin/sh\n${programAt('tar')} "$@" || exit\ncase $1 in -cf) sleep 15;; esac\n`;
    writeFileSync(join(bin, 'tar'), tar, { mode: 0o755 });
    await create('killed', '--rescue', `out:${here('out')}`);
    await late('61m');
    const slow = { ...env, PATH: `${bin}:${process.env.PATH}` };
    const state = join(computer.home, 'state');
    const hidden = () =>
      existsSync(here('out')) ? readdirSync(here('out')).filter((name) => name !== 'a') : [];
    const arrived = () => hidden().some((name) => existsSync(here('out', name, 'a')));
    for (const [argv, text] of [
      [['instances', 'rescue', 'killed'], 'by hand'],
      [['instances', 'reap'], 'by a pass'],
    ] as const) {
      await there('killed', `mkdir -p out; echo ${text} > out/a`);
      const killed = computer.start(argv, { env: slow });
      await expect.poll(arrived, { timeout: 30_000 }).toBe(true);
      killed.kill('SIGKILL');
      await once(killed, 'close');
      // Expires its locks, as the minutes until the next pass do.
      for (const path of readdirSync(state, { recursive: true, encoding: 'utf8' })) {
        if (path.endsWith('.lock')) utimesSync(join(state, path), 0, 0);
      }
      expect(await statusOf('killed')).toBe('ACTIVE');
      expect(hidden()).toEqual([expect.stringMatching(/^\.gpucloud-/)]);
      await done(...argv);
      expect(readdirSync(here('out'))).toEqual(['a']);
      expect(readFileSync(here('out', 'a'), 'utf8')).toBe(`${text}\n`);
    }
  });

  test('end with the last copy of a file that is written all the time, and name it', async () => {
    await create('notebook', '--rescue', `nb:${here('nb')}`);
    await there(
      'notebook',
      'mkdir nb; echo still > nb/still; (while [ -d nb ]; do date +%N > nb/busy; sleep 0.01; done) >/dev/null 2>&1 </dev/null &',
    );
    await late('61m');
    const { code, rows, stderr } = await reap();
    expect({ code, rows }, stderr).toMatchObject({
      code: 0,
      rows: [{ outcome: 'terminated', rescued: [{ changing: ['busy'], failure: null }] }],
    });
    expect(stderr).toContain('the last copy differs in busy');
    expect(readFileSync(here('nb', 'still'), 'utf8')).toBe('still\n');
  });
});
