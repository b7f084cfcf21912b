import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { IMAGE, OFFER } from '../support/sandbox-ids.ts';
import { sshPublicKey } from '../support/ssh-key.ts';

let world: SandboxWorld;
let keyId: string;

beforeEach(async () => {
  world = await createSandboxWorld();
  await done('profiles', 'add', 'work', '--base-url', world.service.url);
  const key = join(world.home, 'key.pub');
  await writeFile(key, `${sshPublicKey('ssh-ed25519')} laptop\n`);
  keyId = JSON.parse(await done('ssh-keys', 'add', key, '--name', 'laptop', '--json')).id;
});

const env = { GPUCLOUD_PROFILE: 'work' };
const cli = (...argv: string[]) => world.cli(argv, { env });

async function done(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(...argv);
  expect(code, stderr).toBe(0);
  return stdout;
}

const ALL = ['--offer', OFFER, '--image', IMAGE, '--ssh-key', 'laptop'] as const;
const set = (...flags: string[]) => done('profiles', 'set', 'work', '--json', ...flags);
const planned = async (...argv: string[]) => {
  const { code, stdout, stderr } = await cli(...argv, '--dry-run', '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout).request;
};

describe('defaults of a profile', () => {
  test('stores, shows, replaces and removes each default', async () => {
    const shown = async () => JSON.parse(await done('profiles', 'get', 'work', '--json')).defaults;
    expect(await shown()).toEqual({ offer: null, image: null, ssh_key: null });
    await set(...ALL, '--max-instances', '4');
    expect(await shown()).toEqual({ offer: OFFER, image: IMAGE, ssh_key: 'laptop' });
    await set('--image', 'none', '--offer', 'A100');
    expect(await shown()).toEqual({ offer: 'A100', image: null, ssh_key: 'laptop' });
    const details = await done('profiles', 'get', 'work');
    expect(details).toMatch(/Offer: +A100\nSSH key: +laptop\n/);
    expect(JSON.parse(await done('profiles', 'get', 'work', '--json')).guards.max_instances).toBe(
      4,
    );
    await cli('profiles', 'set', 'work', '--offer', '');
  });

  test('names the defaults that create uses, also in a dry run', async () => {
    await set(...ALL);
    const request = {
      offer_id: OFFER,
      image_id: IMAGE,
      instance_name: 'trainer',
      ssh_keys: [keyId],
    };
    const line = `Defaults of the profile "work": --offer ${OFFER} --image ${IMAGE} --ssh-key laptop\n`;
    const create = ['instances', 'create', 'trainer'];
    expect((await cli(...create, '--dry-run')).stderr).toContain(line);
    expect(JSON.parse(await done(...create, '--dry-run', '--json'))).toMatchObject({
      request,
      from_profile: ['offer', 'image', 'ssh_key'],
    });
    const [one] = JSON.parse(
      await done(...create, '--count', '1', '--image', IMAGE, '--dry-run', '--json'),
    );
    expect(one.from_profile).toEqual(['offer', 'ssh_key']);
    const { requests } = await cli(...create);
    expect(requests.find(({ method }) => method === 'POST')?.body).toEqual(request);
  });

  test('prefers flags to the file, and the file to the defaults', async () => {
    await set('--offer', OFFER, '--image', 'from-profile', '--ssh-key', 'laptop');
    const file = join(world.home, 'box.yaml');
    await writeFile(file, `image_id: ${IMAGE}\nssh_keys: []\n`);
    const argv = ['instances', 'create', 'trainer', '-f', file];
    const body = { offer_id: OFFER, image_id: IMAGE, instance_name: 'trainer' };
    expect(await planned(...argv)).toEqual(body);
    expect(await planned(...argv, '--offer', IMAGE, '--ssh-key', keyId)).toEqual({
      ...body,
      offer_id: IMAGE,
      ssh_keys: [keyId],
    });
  });

  test('names the profile in the error for a default that does not exist', async () => {
    await set('--offer', OFFER, '--image', IMAGE, '--ssh-key', 'desktop');
    const { code, requests } = await cli('instances', 'create', 'trainer');
    expect({ code, posts: requests.filter(({ method }) => method === 'POST') }).toEqual({
      code: 3,
      posts: [],
    });
  });

  test('uses the defaults in run, but not for another profile', needs('ssh'), async () => {
    await set(...ALL);
    const run = ['run', '--terminate-after', '1h', '--identity', '/dev/null'];
    await cli(...run, '--dry-run', '--json', '--', 'true');
    await done('profiles', 'add', 'other', '--base-url', world.service.url);
    await cli(...run, '--profile', 'other', '--', 'true');
  });

  test.each([
    ['H100', 'laptop'],
    ['none-such', 'gone'],
  ])('offers the defaults %s and %s first when it prompts', async (offer, sshKey) => {
    await done('ssh-keys', 'add', await otherKey(), '--name', 'desktop', '--default');
    await set('--offer', offer, '--image', 'Ubuntu 22.04', '--ssh-key', sshKey);
    await done('catalog', 'add', 'offer', OFFER, '--name', 'RTX 4090');
    await done('catalog', 'add', 'offer', '11111111-0000-4000-8000-000000000001', '--name', 'H100');
    await done('catalog', 'add', 'image', IMAGE, '--name', 'Ubuntu 22.04');
    const { code, stderr } = await world.cli(['instances', 'create', '--dry-run'], {
      terminal: true,
      columns: 300,
      typedAhead: true,
      env: { ...env, TERM: 'dumb' },
      stdin: ['box', '', '', '', ''].map((line) => `${line}\n`).join(''),
    });
    expect(code, stderr).toBe(0);
  });
});

async function otherKey(): Promise<string> {
  const key = join(world.home, 'other.pub');
  await writeFile(key, `${sshPublicKey('ssh-ed25519')} desktop\n`);
  return key;
}
