import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KEYS } from '../support/person.ts';
import { PROGRAM, RUNNER } from '../support/program.ts';
import { computer, ED25519, instances, openTable, person, run } from './wizard.ts';

const { enter, down, space, ctrlC, ctrlD, clearLine } = KEYS;

openTable();

describe('other commands without arguments', () => {
  test('offers the running instances in terminate, and terminates only the chosen one', async () => {
    for (const name of ['one', 'two', 'old']) {
      await run(
        computer,
        'instances',
        'create',
        name,
        '--offer',
        'rtx-4090',
        '--image',
        'ubuntu-22-04',
      );
    }
    await run(computer, 'instances', 'terminate', 'old', '-y');
    const one = person(['instances', 'terminate']);
    const screen = await one.reads(/\? Which instances do you want to terminate\?[\s\S]*submit/);
    expect(screen).not.toContain('old');
    expect(screen).toMatch(/◯ one {2}PROVISIONING {2}89\.90 ₽\/h {2}seen /);
    const second = /^ ◯ (\w+)/m.exec(screen)?.[1] ?? '';
    const first = second === 'one' ? 'two' : 'one';
    await one.type(enter);
    await one.answers('choose at least one', `${down}${space}${enter}`);
    await one.answers(new RegExp(`\\? .*${second}[\\s\\S]*\\(y/N\\)`), `y${enter}`);
    expect(await one.ended()).toBe(0);
    const statuses = Object.fromEntries(
      (await instances()).map(({ name, status }) => [name, status]),
    );
    expect(statuses[first]).not.toMatch(/TERMINAT/);
    expect(statuses[second]).toMatch(/TERMINAT/);
  });

  test('asks on the terminal in terminate - about the instances of a pipe', async () => {
    const hardware = ['--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--no-ssh-key'];
    for (const name of ['one', 'two'])
      await run(computer, 'instances', 'create', name, ...hardware);
    const program = `'${RUNNER}' '${PROGRAM}'`;
    const line = `${program} instances list -q | ${program} instances terminate -`;
    const one = person(['-c', line], { program: ['bash'] });
    await one.answers('Terminate these 2 instances and their disks? (y/N)', `y${enter}`);
    expect(await one.ended()).toBe(0);
    for (const { status } of await instances()) expect(status).toMatch(/TERMINAT/);
  });

  test('exits with 3 in terminate without a known running instance', async () => {
    const one = person(['instances', 'terminate']);
    expect(await one.ended()).toBe(3);
    expect(one.screen()).toContain('No known instances to choose from');
  });

  test("asks for a drive's name and size in drives create", async () => {
    const one = person(['drives', 'create']);
    await one.answers(/\? Drive name\? *$/m, `данные 数据${enter}`);
    await one.answers(/\? Size .* *$/m, `5x${enter}`);
    await one.answers('must be a whole number', `${clearLine}500GB${enter}`);
    await one.answers(
      /drives create '--name=данные 数据' --size 500GB[\s\S]*\(y\/N\)/,
      `y${enter}`,
    );
    expect(await one.ended()).toBe(0);
    expect(one.screen()).toContain('Created drive данные 数据');
  });

  test.each([
    ['Ctrl-C', ctrlC],
    ['Ctrl-D', ctrlD],
  ])('does not create a drive if cancelled by %s', async (_name, key) => {
    const one = person(['drives', 'create', 'data']);
    await one.answers(/\? Size .* *$/m, key);
    expect(await one.ended()).toBe(130);
    expect(one.screen()).toContain('No drive created.');
    expect(JSON.parse(await run(computer, 'drives', 'list', '--json'))).toEqual([]);
  });

  test('offers the public keys in ~/.ssh in ssh-keys add', async () => {
    await mkdir(join(computer.home, '.ssh'));
    await writeFile(join(computer.home, '.ssh', 'id_ed25519.pub'), `${ED25519} anna@laptop\n`);
    const one = person(['ssh-keys', 'add']);
    await one.answers(/\? Which key\?[\s\S]*❯ id_ed25519\.pub {2}anna@laptop[\s\S]*select/, enter);
    await one.answers(/\? Name \(anna@laptop\) *$/m, `laptop${enter}`);
    await one.answers(/\? Use by default for new instances\? \(y\/N\) *$/m, `y${enter}`);
    expect(await one.ended()).toBe(0);
    expect(JSON.parse(await run(computer, 'ssh-keys', 'list', '--json'))).toMatchObject([
      { name: 'laptop', is_default: true },
    ]);
    const again = person(['ssh-keys', 'add']);
    await again.answers(/❯ id_ed25519\.pub {2}added as laptop[\s\S]*select/, enter);
    expect(await again.ended()).toBe(0);
    expect(again.screen()).toContain('This key is already in the account, as laptop');
  });

  test('asks again in login for an invalid base URL or a rejected API key', async () => {
    const server = computer.start(['sandbox', 'serve', '--port', '0', '--json']);
    try {
      const { url, api_key } = await new Promise<{ url: string; api_key: string }>((resolve) => {
        server.stdout.once('data', (chunk: Buffer) => resolve(JSON.parse(String(chunk))));
      });
      const one = person(['login'], { env: { GPUCLOUD_PROFILE: '' } });
      await one.answers(
        /\? Base URL of the service \(--base-url\), such as https:\/\/api\.example\.com\/v1 *$/m,
        `ftp://x${enter}`,
      );
      await one.answers('must start with https://', `${clearLine}${url}${enter}`);
      await one.answers(/\? API key for /, `svc_sk_wrong${enter}`);
      await one.answers(/did not accept the API key[\s\S]*\? API key for /, `${api_key}${enter}`);
      expect(await one.ended()).toBe(0);
      expect(one.screen()).toContain('Signed in at');
      expect(one.written()).not.toContain('svc_sk_wrong');
      expect(one.written()).not.toContain(api_key);
      const config = await readFile(join(computer.home, 'config', 'config.json'), 'utf8');
      expect(config).not.toContain('svc_sk_wrong');
    } finally {
      const gone = once(server, 'close');
      server.kill('SIGTERM');
      await gone;
    }
  });
});
