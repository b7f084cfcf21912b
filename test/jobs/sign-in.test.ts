import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Instance } from '../../src/api/index.ts';
import type { Context } from '../../src/context.ts';
import { asCliError } from '../../src/errors.ts';
import { ensureRescueKey, ensureRescueSignIn } from '../../src/jobs/rescue/wanted.ts';
import { ensureSignIn, ensureSsh } from '../../src/jobs/sign-in.ts';
import type { HowToReach } from '../../src/ssh/reach.ts';
import { signInFinder } from '../../src/ssh/sign-in.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { ok } from '../support/service.ts';

let world: World;
let context: Context;
let bin: string;
let keys: { id: string; name?: string; public_key: string }[];

const HOW: HowToReach = {
  identity: undefined,
  user: undefined,
  port: undefined,
  wait: undefined,
  options: [],
  words: [],
};

beforeEach(async () => {
  keys = [
    { id: 'k-1', name: 'laptop', public_key: 'ssh-ed25519 AAAA1 me@laptop' },
    { id: 'k-2', public_key: 'ssh-ed25519 AAAA2' },
  ];
  world = await createWorld({ handler: () => ok(keys) });
  bin = join(world.home, 'bin');
  for (const folder of [bin, join(world.home, '.ssh')]) await mkdir(folder);
  await program('ssh-add', `cat ${world.home}/agent 2>/dev/null`);
  // Treats a key with `locked` in its name as protected by a passphrase.
  await program('ssh-keygen', 'case $5 in *locked*) exit 255 ;; esac');
  const env = { ...world.env, PATH: `${bin}:/usr/bin:/bin` };
  ({ context } = atTerminal({ ...world, env }, []));
});
afterEach(() => world.close());

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** Puts a key pair into ~/.ssh, and returns the private key file. */
async function pair(name: string, blob: string): Promise<string> {
  const file = join(world.home, '.ssh', name);
  await writeFile(file, 'private');
  await writeFile(`${file}.pub`, `ssh-ed25519 ${blob} somebody\n`);
  return file;
}

const signIn = (...ssh_keys: string[]) =>
  ensureSignIn({ ssh_keys }, { how: HOW, detach: false }, context);
const detached = (...ssh_keys: string[]) =>
  ensureSignIn({ ssh_keys }, { how: HOW, detach: true }, context);
const ONLY_AGENT = 'only usable through your SSH agent';

describe('the private key of a job', () => {
  test('selects a key file without a passphrase for a job', async () => {
    await pair('a-locked', 'AAAA1');
    const file = await pair('b', 'AAAA2');
    await pair('c', 'AAAA3');
    expect(await signIn('k-1', 'k-2')).toEqual({ ...HOW, identity: file });
  });

  test('selects the key file even if the agent holds the key', async () => {
    const locked = await pair('a-locked', 'AAAA1');
    await writeFile(join(world.home, 'agent'), 'ssh-ed25519 AAAA1 agent\n');
    expect(await signIn('k-1')).toEqual({ ...HOW, identity: locked });
    await expect(detached('k-1')).rejects.toThrow(ONLY_AGENT);
    const open = await pair('b', 'AAAA1');
    expect(await detached('k-1')).toEqual({ ...HOW, identity: open });
  });

  test('looks for a private key once for all instances with the same keys', async () => {
    const file = await pair('b', 'AAAA1');
    const find = signInFinder({ ...HOW, identity: undefined }, context);
    const instance = (id: string, ...ids: string[]) =>
      ({ id, ssh_keys: ids.map((key) => ({ id: key })) }) as unknown as Instance;
    const key = { how: { ...HOW, identity: file }, needs: 'nothing', tried: `key ${file}` };
    expect(await find(instance('i-1', 'k-1'))).toEqual(key);
    await rm(file);
    expect(await find(instance('i-2', 'k-1'))).toEqual(key);
    expect(await find(instance('i-3', 'k-1', 'k-2'))).toMatchObject({
      how: { identity: undefined },
    });
  });

  test('refuses --detach if only the agent has the key', async () => {
    await writeFile(join(world.home, 'agent'), 'ssh-ed25519 AAAA1 agent\n');
    const { identity = '' } = await signIn('k-1');
    // ssh offers only this key of the agent.
    expect(identity).toMatch(/\/ssh\/[0-9a-f]{16}\.pub$/);
    expect(await readFile(identity, 'utf8')).toBe('ssh-ed25519 AAAA1\n');
    await expect(
      ensureSignIn({ ssh_keys: ['k-1'] }, { how: { ...HOW, identity }, detach: true }, context),
    ).rejects.toThrow(ONLY_AGENT);
    const refusal = { failure: 'usage', hint: expect.stringContaining('--identity FILE') };
    await expect(detached('k-1')).rejects.toMatchObject(refusal);
  });

  test('rejects a job whose SSH keys have no private key on this computer', async () => {
    await pair('b', 'AAAA2');
    await expect(signIn('k-1')).rejects.toMatchObject({
      failure: 'usage',
      message: '--ssh-key laptop: no private key found in ~/.ssh or in the SSH agent',
    });
    keys = [...keys].reverse();
    await pair('b', 'AAAA3');
    await expect(signIn('k-1', 'k-2')).rejects.toThrow('--ssh-key k-2, laptop: no private key');
  });

  test('rejects a private key with a passphrase for a job', async () => {
    const file = await pair('a-locked', 'AAAA1');
    await expect(signIn('k-1')).rejects.toThrow(`private key ${file} has a passphrase`);
  });

  test('is usable without a prompt for --rescue', async () => {
    const wanted = { toRescue: { pathsFor: () => [], budget: null } };
    const check = (...ids: string[]) =>
      ensureRescueKey(wanted, ids, context).then(() => 'usable', asCliError);
    const refused = (why: string) => ({
      message: `--rescue: a scheduled "instances reap" can't sign in to the instance (SSH keys: laptop), since ${why}`,
      hint: 'use an SSH key whose file has no passphrase: --ssh-key NAME',
    });
    expect(await check('k-1')).toMatchObject(refused('this computer has no private key for it'));
    await writeFile(join(world.home, 'agent'), 'ssh-ed25519 AAAA1 agent\n');
    const agent = refused('its key is only usable through your SSH agent');
    expect(await check('k-1')).toMatchObject(agent);
    await rm(join(world.home, 'agent'));
    await pair('a-locked', 'AAAA1');
    expect(await check('k-1')).toMatchObject(refused('its key has a passphrase'));
    await pair('b', 'AAAA1');
    expect(await check('k-1')).toBe('usable');
    expect(await ensureRescueKey({}, ['k-2'], context)).toBeUndefined();
    await writeFile(join(world.home, 'agent'), 'ssh-ed25519 AAAA2 agent\n');
    const box = { id: 'i', status: 'ACTIVE', ssh_keys: keys.slice(1) } as Instance;
    const other = agent.message.replace('laptop', 'k-2');
    await expect(ensureRescueSignIn(box, context)).rejects.toMatchObject({ message: other });
  });

  test("selects the key of --identity, without reading the account's keys", async () => {
    const how = { ...HOW, identity: '/key' };
    const given = { how, detach: false };
    expect(await ensureSignIn({ ssh_keys: ['k-1'] }, given, context)).toBe(how);
    await expect(ensureSignIn({}, given, context)).rejects.toThrow('run needs an SSH key');
    expect(world.service.requests).toEqual([]);
  });

  test('rejects an --identity key with a passphrase, unless the agent holds the key', async () => {
    await program('ssh-keygen', 'echo "Load key: incorrect passphrase supplied" >&2; exit 255');
    const file = await pair('a', 'AAAA1');
    const how = { ...HOW, identity: file };
    const check = (detach = false) => ensureSignIn({ ssh_keys: ['k-1'] }, { how, detach }, context);
    const refusal = `--identity: private key ${file} has a passphrase`;
    await expect(check()).rejects.toThrow(refusal);
    await writeFile(join(world.home, 'agent'), 'ssh-ed25519 AAAA2 agent\n');
    await expect(check()).rejects.toThrow(refusal);
    await writeFile(join(world.home, 'agent'), 'ssh-ed25519 AAAA1 agent\n');
    expect(await check()).toMatchObject({ identity: file });
    await expect(check(true)).rejects.toThrow(ONLY_AGENT);
    await rm(`${file}.pub`);
    expect(await check()).toMatchObject({ identity: file });
    await rm(join(world.home, 'agent'));
    await expect(check()).rejects.toThrow(refusal);
  });
});

describe('ssh on this computer', () => {
  test.each([
    ['accepts ssh if it starts', 'exit 0', true],
    ['rejects ssh if it exits with 1', 'exit 1', false],
  ])('%s', async (_how, script, isUsable) => {
    await program('ssh', script);
    const checked = ensureSsh(HOW, context);
    if (isUsable) await checked;
    else await expect(checked).rejects.toThrow('gpucloud run needs ssh, but could not start it');
  });

  test("rejects a run with an invalid ssh option before renting, and prints ssh's reason", async () => {
    await program(
      'ssh',
      'case "$*" in *-Bad*|*Bad=*) echo "Bad one" >&2; echo usage >&2; exit 255; esac',
    );
    await ensureSsh({ options: ['Compression=yes'], words: ['-4'] }, context);
    for (const how of [
      { options: ['Bad=1'], words: [] },
      { options: [], words: ['-Bad'] },
    ]) {
      await expect(ensureSsh(how, context)).rejects.toThrow('ssh rejects them: Bad one');
    }
  });

  test.each([
    ['UseKeychain', 'line 2: Bad configuration option: usekeychain'],
    ['mode 666', 'Bad owner or permissions on /home/ann/.ssh/config'],
  ])('rejects a run before renting if ssh rejects its configuration: %s', async (_what, reason) => {
    // The options come first in ssh's words.
    const said = `case $* in *Compression*) echo option ;; esac; echo "${reason}"; echo more`;
    await program('ssh', `case $1 in -G) { ${said}; } >&2; exit 255; esac`);
    for (const how of [HOW, { options: ['Compression=yes'], words: [] }]) {
      await expect(ensureSsh(how, context)).rejects.toMatchObject({
        failure: 'usage',
        message: `ssh rejects its configuration: ${reason}`,
      });
    }
  });

  test('exits with 5 if run uses the sandbox on Windows', async () => {
    const words = ['run', '--offer', 'a-1', '--image', 'b-1', '--ssh-key', 'k', '--dry-run'];
    await world.cli([...words, '--terminate-after', '1h', '--', 'true'], {
      env: {
        GPUCLOUD_PROFILE: 'sandbox',
        GPUCLOUD_API_KEY: undefined,
        GPUCLOUD_BASE_URL: undefined,
      },
      platform: 'win32',
    });
  });
});

test("repeats ssh's own words if ssh can't start", async () => {
  await program('ssh', 'echo "No user exists for uid 1234" >&2; exit 255');
  await expect(ensureSsh(HOW, context)).rejects.toThrow(
    'gpucloud run needs ssh, but it failed: No user exists for uid 1234',
  );
  await program('ssh', 'case $1 in -G) exit 7; esac');
  const silent = 'ssh rejects its configuration: ssh -G exited with 7';
  await expect(ensureSsh(HOW, context)).rejects.toThrow(silent);
});
