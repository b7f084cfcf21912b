import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import {
  box,
  createSshSite,
  createSshWorld,
  ID,
  OTHER,
  type SshSite,
  type SshWorld,
} from '../support/ssh-world.ts';

let site: SshSite;
let world: SshWorld;
/** A local folder and a folder of the instance. Both are on the same disk. */
let here: string;
let there: string;

beforeAll(async () => {
  site = await createSshSite();
});
afterAll(() => site.close());
beforeEach(async () => {
  world = await createSshWorld(site);
  here = join(world.computer.home, 'here');
  there = join(world.computer.home, 'there');
  await mkdir(here);
  await mkdir(there);
});

describe('instances scp', needs('ssh'), () => {
  test('copies a 10 MB file to the instance and back unchanged', async () => {
    const bytes = randomBytes(10_000_000);
    await writeFile(join(here, 'model.bin'), bytes);
    const up = await world.instances('scp', join(here, 'model.bin'), `${ID}:${there}/`);
    expect(up.code).toBe(0);
    expect(bytes.equals(await readFile(join(there, 'model.bin')))).toBe(true);
    const down = await world.instances('scp', `${ID}:${there}/model.bin`, join(here, 'back.bin'));
    expect(down.code).toBe(0);
    expect(bytes.equals(await readFile(join(here, 'back.bin')))).toBe(true);
  });

  const ODD = [
    '-oProxyCommand=x',
    'a b',
    "it's",
    '$HOME',
    'ключ',
    'a:b',
    'semi;colon',
    '"q"',
    '-r',
  ];

  test('copies files with odd names, and folders with -r, to the instance and back', async () => {
    await mkdir(join(here, 'run', 'deep'), { recursive: true });
    await writeFile(join(here, 'run', 'deep', 'log'), 'log');
    for (const name of ODD) await writeFile(join(here, name), name);
    const sources = ['run', ...ODD].map((name) => `here/${name}`);
    const up = await world.instances('scp', '-r', ...sources, `${ID}:${there}/`);
    expect(up.code, up.stderr).toBe(0);
    const copied = ['run', 'run/deep', 'run/deep/log', ...ODD].sort();
    expect((await readdir(there, { recursive: true })).sort()).toEqual(copied);
    const back = join(world.computer.home, 'back');
    await mkdir(back);
    const remote = ['run/deep/log', ...ODD].map((name) => `${ID}:${there}/${name}`);
    const down = await world.instances('scp', ...remote, back);
    expect(down.code, down.stderr).toBe(0);
    expect(await readFile(join(back, 'log'), 'utf8')).toBe('log');
    for (const name of ODD) expect(await readFile(join(back, name), 'utf8')).toBe(name);
  });

  test("exits with scp's exit code", async () => {
    const { code, stdout, stderr } = await world.instances('scp', `${ID}:${there}/none`, here);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('No such file or directory');
    expect(stderr).not.toContain('sign-in');
  });
});

describe('instances ssh-config', needs('ssh'), () => {
  /** Runs plain ssh with the test's ssh configuration. */
  const plain = (line: string) =>
    world.computer.bash(
      `ssh() { command ssh -F "$HOME/.ssh/config" -o IdentitiesOnly=yes -i '${site.clientKey}' "$@"; }; ${line}`,
    );
  const config = () => join(world.computer.home, '.ssh', 'config');
  const folder = () => join(world.computer.home, 'state', 'ssh');
  const installed = () => join(folder(), '@environment.conf');
  const include = () => `Include ${join(folder(), '*.conf')}`;
  const install = () => world.gpucloud(['instances', 'ssh-config', '--install']);

  test('installs a configuration that lets ssh connect by instance name', async () => {
    const { code, stderr } = await install();
    expect(code).toBe(0);
    expect(stderr).toContain('Connect: ssh gpucloud-box');
    expect(await readFile(config(), 'utf8')).toBe(`${include()}\n`);
    expect((await stat(config())).mode & 0o777).toBe(0o600);
    expect((await stat(installed())).mode & 0o777).toBe(0o600);
    expect(await plain(`ssh gpucloud-box echo in; ssh gpucloud-${ID} exit 9`)).toMatchObject({
      code: 9,
      stdout: 'in\n',
    });
  });

  test('lets rsync copy to an instance by name', needs('rsync'), async () => {
    await install();
    await writeFile(join(here, 'data'), randomBytes(100_000));
    const { code, stderr } = await world.computer.bash(
      `rsync -a -e "ssh -F $HOME/.ssh/config -i '${site.clientKey}'" here/ gpucloud-box:${there}/`,
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect((await readFile(join(there, 'data'))).equals(await readFile(join(here, 'data')))).toBe(
      true,
    );
  });

  test("updates ssh-config's addresses, adds new instances and removes terminated ones when run again", async () => {
    await install();
    const { instances } = world.service;
    instances.set(ID, box(2222, { ip_address: '192.168.7.7' }));
    instances.set(OTHER, box(22, { id: OTHER, name: 'second', ip_address: '2001:db8::5' }));
    await install();
    const both = await readFile(installed(), 'utf8');
    expect(both).toContain(
      `Host gpucloud-box gpucloud-${ID}\n  HostName 192.168.7.7\n  Port 2222\n`,
    );
    expect(both).toContain(`Host gpucloud-second gpucloud-${OTHER}\n  HostName 2001:db8::5\n`);
    instances.set(ID, box(2222, { status: 'TERMINATED', ip_address: null }));
    await install();
    const one = await readFile(installed(), 'utf8');
    expect(one).not.toContain('gpucloud-box');
    expect(one).toContain('gpucloud-second');
  });
});
