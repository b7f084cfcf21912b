import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hostBlock, hostEntries, sshFiles, writeHosts } from '../../src/reach/host-file.ts';
import { addInclude, isIncluded, removeInclude } from '../../src/reach/include.ts';
import { wayInto } from '../../src/reach/way.ts';

const OURS = '/state/ssh/config';

let folder: string;
let config: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-include-'));
  config = join(folder, '.ssh', 'config');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("the user's configuration", () => {
  test('any content comes back as it was, whatever its bytes', { timeout: 60_000 }, async () => {
    await mkdir(join(folder, '.ssh'));
    const line = fc.constantFrom(
      'Host *',
      'Match all',
      '  IdentityFile ~/.ssh/id',
      'Include other',
      '# Include /state/ssh/config',
      '',
    );
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc
        .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'))
        .map(([lines, end]) => Buffer.from(lines.join(end))),
    );
    await fc.assert(
      fc.asyncProperty(content, async (before) => {
        await writeFile(config, before);
        expect(await addInclude(config, OURS)).toBe(true);
        expect(await addInclude(config, OURS)).toBe(false);
        expect(await isIncluded(config, OURS)).toBe(true);
        const first = (await readFile(config)).toString('latin1').split(/\r?\n/)[0];
        expect(first).toBe(`Include ${OURS}`);
        expect(await removeInclude(config, OURS)).toBe(true);
        expect(await removeInclude(config, OURS)).toBe(false);
        expect((await readFile(config)).equals(before)).toBe(true);
      }),
      { numRuns: 150 },
    );
    expect(await readdir(join(folder, '.ssh'))).toEqual(['config']);
  });

  test('a line of ours inside a block of one host does not count', async () => {
    await mkdir(join(folder, '.ssh'));
    await writeFile(config, `Host one\n  Include ${OURS}\n`);
    expect(await isIncluded(config, OURS)).toBe(false);
    expect(await addInclude(config, OURS)).toBe(true);
    expect(await readFile(config, 'utf8')).toBe(`Include ${OURS}\nHost one\n  Include ${OURS}\n`);
  });

  test('is made for its owner alone where there is none', async () => {
    await addInclude(config, OURS);
    expect((await stat(join(folder, '.ssh'))).mode & 0o777).toBe(0o700);
    expect((await stat(config)).mode & 0o777).toBe(0o600);
  });

  test('keeps its mode, through a link too', async () => {
    await mkdir(join(folder, '.ssh'));
    await mkdir(join(folder, 'dotfiles'));
    const real = join(folder, 'dotfiles', 'ssh');
    await writeFile(real, 'Host *\n');
    await chmod(real, 0o644);
    await symlink('../dotfiles/ssh', config);
    await addInclude(config, OURS);
    expect((await stat(real)).mode & 0o777).toBe(0o644);
    expect(await readdir(join(folder, 'dotfiles'))).toEqual(['ssh']);
    expect(await readFile(real, 'utf8')).toBe(`Include ${OURS}\nHost *\n`);
  });

  test('a link that leads nowhere is left alone, and the line is told', async () => {
    await mkdir(join(folder, '.ssh'));
    await symlink('nowhere', config);
    await expect(addInclude(config, OURS)).rejects.toMatchObject({
      failure: 'storage',
      hint: `change it by hand; the line is: Include ${OURS}`,
    });
    expect(await readdir(join(folder, '.ssh'))).toEqual(['config']);
  });
});

describe('the file of machines', () => {
  const machine = (id: string, address = '203.0.113.7') => ({
    id,
    name: `box-${id}`,
    way: wayInto({ id, ip_address: address, ssh_username: 'root', ssh_port: 22 }),
  });
  const ANN = { service: 'https://api.example.com', account: 'ann' };
  const BEN = { service: 'https://api.example.com', account: 'ben' };

  async function hosts(): Promise<string[]> {
    const text = await readFile(sshFiles(folder).hosts, 'utf8');
    return [...text.matchAll(/^Host gpucloud-\S+ gpucloud-(\S+)$/gm)].map(([, id]) => id ?? '');
  }

  test('accounts do not take each other their machines away', async () => {
    const files = sshFiles(folder);
    await writeHosts(files, ANN, [machine('a1'), machine('a2')]);
    await writeHosts(files, BEN, [machine('b1')]);
    await writeHosts(files, ANN, [machine('a2')]);
    expect((await hosts()).sort()).toEqual(['a2', 'b1']);
    await writeHosts(files, { ...BEN, account: null }, [machine('b2')]);
    expect((await hosts()).sort()).toEqual(['a2', 'b1', 'b2']);
    // Once it is known whose they are, they stand there once.
    await writeHosts(files, BEN, [machine('b1'), machine('b2')]);
    expect((await hosts()).sort()).toEqual(['a2', 'b1', 'b2']);
  });

  test('what could not be read stays as it was, what has no way goes', async () => {
    const files = sshFiles(folder);
    await writeHosts(files, ANN, [machine('a1'), machine('a2')]);
    await writeHosts(files, ANN, [
      { id: 'a1', name: 'box-a1', way: 'unread' },
      { id: 'a2', name: 'box-a2', way: undefined },
    ]);
    expect(await hosts()).toEqual(['a1']);
  });

  test('one machine that was read changes no other', async () => {
    const files = sshFiles(folder);
    await writeHosts(files, ANN, [machine('a1'), machine('a2')]);
    await writeHosts(files, ANN, [machine('a1', '198.51.100.9')], 'stay');
    expect((await hosts()).sort()).toEqual(['a1', 'a2']);
    const text = await readFile(files.hosts, 'utf8');
    expect(text).toContain('HostName 198.51.100.9');
    const [entry] = hostEntries([machine('a2')]);
    expect(text).toContain(entry === undefined ? 'never' : hostBlock(entry, files.knownHosts));
  });

  test('many at once lose none', async () => {
    const files = sshFiles(folder);
    const owners = Array.from({ length: 12 }, (_, at) => ({ ...ANN, account: `of-${at}` }));
    await Promise.all(owners.map((owner, at) => writeHosts(files, owner, [machine(`m${at}`)])));
    expect(await hosts()).toHaveLength(12);
  });
});
