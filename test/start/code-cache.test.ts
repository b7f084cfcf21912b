import { execFileSync } from 'node:child_process';
import {
  chmod,
  chown,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keepCode, readCode, type Shelf } from '../../src/start/code-cache.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import {
  type Installation,
  install,
  PACKED,
  POISON,
  poison,
  rewrite,
  SOUND,
} from './installation.ts';

const HELP = ['--help'];
const IS_ROOT = process.geteuid?.() === 0;
const STRANGER = 12_345;

let at: Installation;
beforeEach(async () => {
  at = await install();
});
afterEach(() => at.remove());

/** Runs the program, which must be the sound one and say nothing but its help. */
async function soundHelp(): Promise<void> {
  const { code, stdout, stderr } = await at.run(HELP);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(SOUND);
  expect(stdout).not.toContain(POISON);
}

describe('kept code', () => {
  test('is run by the next run, for the user alone', async () => {
    // The proof is also the danger: code of other words of the same length would be run.
    const file = await poison(at, HELP);
    expect((await at.run(HELP)).stdout).toContain(POISON);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(at.codeFolder)).mode & 0o777).toBe(0o700);
  });

  test('is written once, and again when a command line has new words', async () => {
    const written = async () => {
      const [file = ''] = await at.codeFiles();
      return `${(await stat(file)).ino} ${(await stat(file)).mtimeMs}`;
    };
    const list = ['instances', 'list', '--profile', 'sandbox'];
    await at.run(list);
    const first = await written();
    await at.run(list);
    expect(await written()).toBe(first);
    await at.run([...list, '--json']);
    const second = await written();
    expect(second).not.toBe(first);
    await at.run(list);
    await at.run(['instances', 'list', '--json', '--profile=sandbox']);
    expect(await written()).toBe(second);
    expect(await at.codeFiles()).toHaveLength(1);
  });

  test('is kept for each command by itself', async () => {
    for (const argv of [HELP, ['instances', '--help'], ['instances', 'get', '--help']]) {
      await at.run(argv);
    }
    const names = (await at.codeFiles()).map((file) =>
      file.replace(/^.*-[0-9a-z]+-[0-9a-f]+(?=-instances|\.code)/, ''),
    );
    expect(names.sort()).toEqual(['-instances-get.code', '-instances.code', '.code']);
  });

  test('holds no word that someone typed', async () => {
    const typed = ['hunter2word', 'svc_sk_test_0123456789'];
    await at.run(['completion', 'bash', '--profile', 'hunter2word'], {
      env: { GPUCLOUD_API_KEY: 'svc_sk_test_0123456789' },
    });
    const [file = ''] = await at.codeFiles();
    const bytes = await readFile(file, 'latin1');
    for (const word of typed) expect(bytes).not.toContain(word);
  });

  test('is not kept by a command that fails', async () => {
    expect((await at.run(['instances', 'nonsense'])).code).toBe(2);
    expect((await at.run(['me', 'get'])).code).toBe(4);
    expect(await at.codeFiles()).toEqual([]);
  });

  test('stays out of the way of --version, and where Node itself is told to keep none', async () => {
    expect((await at.run(['--version'])).stdout).toMatch(/^gpucloud \d+\.\d+\.\d+\n$/);
    await at.run(HELP, { env: { NODE_DISABLE_COMPILE_CACHE: '1' } });
    expect(await at.codeFiles()).toEqual([]);
  });

  test('of eight processes at once is whole', async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => at.run(HELP)));
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(outcomes[0]).toMatchObject({ code: 0, stderr: '' });
    const files = await readdir(at.codeFolder);
    expect(files).toEqual([expect.stringMatching(/\.code$/)]);
    const { ino } = await stat(join(at.codeFolder, files[0] ?? ''));
    await soundHelp();
    // It was good, since it was not written anew.
    expect((await stat(join(at.codeFolder, files[0] ?? ''))).ino).toBe(ino);
  });
});

describe('an old gpucloud never runs', () => {
  test('after an upgrade to a bundle of the same size and time', async () => {
    await at.run(HELP);
    const [, name = ''] = /^\/\/([0-9a-f]{32})\n/.exec(await readFile(at.bundle, 'latin1')) ?? [];
    // What scripts/build.mjs does when one word of the source changes.
    await rewrite(at.bundle, SOUND, POISON);
    await rewrite(at.bundle, name, [...name].reverse().join(''));
    expect((await at.run(HELP)).stdout).toContain(POISON);
  });

  test('after the bundle was edited by hand', async () => {
    await at.run(HELP);
    await rewrite(at.bundle, SOUND, POISON);
    await utimes(at.bundle, new Date(), new Date());
    expect((await at.run(HELP)).stdout).toContain(POISON);
  });

  test('from the file of another Node, processor, bundle or place', async () => {
    const file = await poison(at, HELP);
    const bytes = await readFile(file);
    const other = await install();
    try {
      await other.run(HELP);
      const [theirs = ''] = await other.codeFiles();
      await writeFile(theirs, bytes);
      expect((await other.run(HELP)).stdout).toContain(SOUND);
    } finally {
      await other.remove();
    }
    // The name alone proves nothing.
    const text = bytes.toString('latin1');
    for (const [from, to] of [
      [
        process.version,
        'v20.99.9'.padEnd(process.version.length, '9').slice(0, process.version.length),
      ],
      [`-${process.arch}`, '-'.padEnd(process.arch.length + 1, 'z')],
    ] as const) {
      const changed = text.replaceAll(from, to);
      expect(changed).not.toBe(text);
      await writeFile(file, changed, 'latin1');
      await soundHelp();
    }
  });

  test('when flags of V8 differ', async () => {
    await poison(at, HELP);
    const env = { NODE_OPTIONS: '--max-old-space-size=512' };
    expect((await at.run(HELP, { env })).stdout).toContain(SOUND);
  });
});

describe('what is not whole is not run', () => {
  test('whatever byte is changed, wherever it is cut', async () => {
    await at.run(HELP);
    const [file = ''] = await at.codeFiles();
    const bytes = await readFile(file);
    const shelf = shelfOf(file, bytes);
    expect(readCode(shelf)?.code.size).toBeGreaterThan(0);

    const places = [
      ...Array.from({ length: 400 }, (_, place) => place),
      ...Array.from({ length: 200 }, (_, place) => Math.floor((place / 200) * bytes.length)),
      bytes.length - 1,
    ];
    for (const place of places) {
      const spoiled = Buffer.from(bytes);
      spoiled.writeUInt8(spoiled.readUInt8(place) ^ (1 << (place % 8)), place);
      await writeFile(file, spoiled);
      expect({ place, kept: kept(shelf) }).toEqual({ place, kept: undefined });
    }
    for (const length of [
      0,
      1,
      2,
      64,
      1000,
      bytes.length / 2,
      bytes.length - 64,
      bytes.length - 1,
    ]) {
      await writeFile(file, bytes.subarray(0, length));
      expect({ length, kept: kept(shelf) }).toEqual({ length, kept: undefined });
    }
    for (const more of [1, 2, 64]) {
      await writeFile(file, Buffer.concat([bytes, bytes.subarray(0, more)]));
      expect({ more, kept: kept(shelf) }).toEqual({ more, kept: undefined });
    }
  });

  test('of code that is compared in several pieces, whatever byte is changed', async () => {
    await at.run(HELP);
    const [file = ''] = await at.codeFiles();
    const shelf = shelfOf(file, await readFile(file));
    const large = Buffer.from(Array.from({ length: 700_000 }, (_, place) => place % 251));
    keepCode(shelf, { words: ['run'], code: new Map([[0, large]]) });
    expect(readCode(shelf)?.code.get(0)).toEqual(large);

    const bytes = await readFile(file);
    const half = bytes.length / 2;
    const piece = 256 * 1024;
    const edges = [0, piece - 1, piece, 2 * piece - 1, 2 * piece, half - 1];
    for (const place of edges.flatMap((edge) => [edge, half + edge])) {
      const spoiled = Buffer.from(bytes);
      spoiled.writeUInt8(spoiled.readUInt8(place) ^ 1, place);
      await writeFile(file, spoiled);
      expect({ place, kept: kept(shelf) }).toEqual({ place, kept: undefined });
    }
  });

  test.each([0.1, 0.5, 0.9])('by the program itself: a bit at %d of the file', async (share) => {
    await at.run(HELP);
    const [file = ''] = await at.codeFiles();
    const bytes = await readFile(file);
    const place = Math.floor(bytes.length * share);
    bytes.writeUInt8(bytes.readUInt8(place) ^ 4, place);
    await writeFile(file, bytes);
    await soundHelp();
    // And the next run has good code again.
    expect((await readFile(file)).length).toBeGreaterThan(1000);
    expect(Buffer.compare(await readFile(file), bytes)).not.toBe(0);
    await soundHelp();
  });

  test.each([0, 5, 100, 5000])('by the program itself: only the first %d bytes', async (length) => {
    const file = await poison(at, HELP);
    await truncate(file, length);
    await soundHelp();
    await soundHelp();
  });

  test('a file that says nonsense twice', async () => {
    await at.run(HELP);
    const [file = ''] = await at.codeFiles();
    for (const half of ['null\n', '[]\n', '[1,2,3]\n', 'x', '\n', '[']) {
      await writeFile(file, half.repeat(2));
      await soundHelp();
    }
  });
});

describe('what another could have written is not run', () => {
  test('a file that is a link, of either kind of target', async () => {
    const file = await poison(at, HELP);
    const elsewhere = join(at.root, 'elsewhere');
    await rename(file, elsewhere);
    await symlink(elsewhere, file);
    const before = await readFile(elsewhere);
    await soundHelp();
    // What it pointed at is as it was: the link was replaced, not followed.
    expect(Buffer.compare(await readFile(elsewhere), before)).toBe(0);
    await rm(file);
    await symlink('/dev/zero', file);
    await soundHelp();
  });

  test('a folder that is a link', async () => {
    await poison(at, HELP);
    const elsewhere = join(at.root, 'elsewhere');
    await rename(at.codeFolder, elsewhere);
    await symlink(elsewhere, at.codeFolder);
    const before = await readdir(elsewhere);
    await soundHelp();
    expect(await readdir(elsewhere)).toEqual(before);
  });

  test.each([0o620, 0o602])('a file that others may write (%o)', async (mode) => {
    await chmod(await poison(at, HELP), mode);
    await soundHelp();
  });

  test.each([0o720, 0o702, 0o777])('a folder that others may write (%o)', async (mode) => {
    await poison(at, HELP);
    await chmod(at.codeFolder, mode);
    await soundHelp();
  });

  test('a file or folder of another user', async (task) => {
    task.skip(!IS_ROOT, 'only root can give files away');
    const file = await poison(at, HELP);
    const bytes = await readFile(file);
    await chown(file, STRANGER, STRANGER);
    await soundHelp();
    await writeFile(file, bytes);
    await chown(file, 0, 0);
    await chown(at.codeFolder, STRANGER, STRANGER);
    await soundHelp();
  });

  test('root keeps nothing in the folders of another user', async (task) => {
    task.skip(!IS_ROOT, 'only root can give files away');
    const home = join(at.root, 'home');
    await mkdir(home);
    await chown(home, STRANGER, STRANGER);
    const env = { GPUCLOUD_STATE_DIR: undefined, GPUCLOUD_CONFIG_DIR: undefined, HOME: home };
    expect((await at.run(HELP, { env })).code).toBe(0);
    expect(await readdir(home)).toEqual([]);
  });

  test('a pipe, a folder or a device in its place is not waited for', async () => {
    const file = await poison(at, HELP);
    await rm(file);
    execFileSync('mkfifo', [file]);
    await soundHelp();
    await rm(file);
    await mkdir(file);
    await soundHelp();
  });

  test('a second name of a file of ours is as good as the first', async () => {
    const file = await poison(at, HELP);
    await link(file, join(at.root, 'second'));
    expect((await at.run(HELP)).stdout).toContain(POISON);
  });
});

describe('a cache that cannot be kept troubles no one', () => {
  test('no home, a relative folder, a file where the folder should be', async () => {
    const nowhere = { GPUCLOUD_STATE_DIR: undefined, GPUCLOUD_CONFIG_DIR: undefined };
    for (const env of [
      { ...nowhere, HOME: '/proc/nowhere' },
      { ...nowhere, HOME: '/dev/null' },
      { GPUCLOUD_STATE_DIR: 'relative' },
    ]) {
      const { code, stdout, stderr } = await at.run(HELP, { env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(SOUND);
    }
    await mkdir(dirname(at.codeFolder), { recursive: true });
    await writeFile(at.codeFolder, 'a file');
    await soundHelp();
    expect(await readFile(at.codeFolder, 'utf8')).toBe('a file');
  });

  test('a folder that may not be written', async (task) => {
    task.skip(!IS_ROOT, 'root starts it as another user, for whom the folder is closed');
    const home = join(at.root, 'home');
    await mkdir(home, { mode: 0o555 });
    await chmod(home, 0o555);
    await chmod(at.root, 0o755);
    // Node may stand in a folder that is closed to others, as root's own is.
    const node = join(at.root, 'node');
    await copyFile(process.execPath, node);
    await chmod(node, 0o755);
    const { code, stdout, stderr } = await at.run(HELP, {
      node,
      uid: STRANGER,
      env: { GPUCLOUD_STATE_DIR: undefined, GPUCLOUD_CONFIG_DIR: undefined, HOME: home },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(SOUND);
    expect(await readdir(home)).toEqual([]);
  });

  test('a full disk: nothing is left behind, and old code stays', async (task) => {
    const disk = await mountSmallDisk('512k');
    try {
      task.skip(!disk.isMounted, 'no small disk can be mounted here');
      const env = { GPUCLOUD_STATE_DIR: join(disk.path, 'state') };
      await disk.fill();
      for (const argv of [HELP, ['instances', '--help'], HELP]) {
        const { code, stderr } = await at.run(argv, { env });
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      }
      await rm(join(disk.path, 'ballast'));
      // There is room for this one, and none for what a group needs.
      await at.run(HELP, { env });
      const folder = join(disk.path, 'state', 'cache', 'code');
      expect(await readdir(folder)).toHaveLength(1);
      await at.run(['instances', '--help'], { env });
      expect(await readdir(folder)).toHaveLength(1);
    } finally {
      await disk.remove();
    }
  });

  test.each([
    ['long ago', PACKED],
    ['while the clock was ahead', new Date('2099-01-01T00:00:00Z')],
  ])('a writer that died %s leaves no one without code for ever', async (_when, time) => {
    const file = await poison(at, HELP);
    const fresh = `${file}.new`;
    await rename(file, fresh);
    // It may still be at work.
    await soundHelp();
    expect(await readdir(at.codeFolder)).toHaveLength(1);
    await utimes(fresh, time, time);
    await soundHelp();
    await soundHelp();
    expect(await at.codeFiles()).toEqual([file]);
  });

  test('the folder stays small: files of other bundles go when they are old', async () => {
    await mkdir(at.codeFolder, { recursive: true, mode: 0o700 });
    await chmod(at.codeFolder, 0o700);
    const name = (bundle: string, command: string) =>
      join(at.codeFolder, `${bundle}-v20.0.0-x64-0-${command}.code`);
    const old = name('0'.repeat(16), 'instances');
    const young = name('1'.repeat(16), 'instances');
    const strange = join(at.codeFolder, 'notes.txt');
    for (const file of [old, young, strange]) await writeFile(file, 'x');
    await utimes(old, PACKED, PACKED);
    await utimes(strange, PACKED, PACKED);
    await at.run(HELP);
    const files = await at.codeFiles();
    expect(files).toHaveLength(3);
    expect(files).toEqual(expect.arrayContaining([young, strange]));

    for (let at = 0; at < 70; at++) {
      await copyFile(young, name('2'.repeat(16), `c${at}`));
    }
    await at.run(['instances', '--help']);
    const left = await at.codeFiles();
    expect(left.filter((file) => file.endsWith('.code'))).toHaveLength(60);
    expect(left).toContain(strange);
  });
});

/** Under what a file was kept, as its header tells it. */
function shelfOf(file: string, bytes: Buffer): Shelf {
  const [identity] = JSON.parse(bytes.toString('utf8', 0, bytes.indexOf('\n')));
  const [bundle, runtime, command, details] = JSON.parse(identity);
  const owner = process.geteuid?.();
  return {
    folder: dirname(file),
    bundle,
    runtime,
    command,
    details,
    ...(owner === undefined ? {} : { owner }),
  };
}

function kept(shelf: Shelf) {
  try {
    return readCode(shelf);
  } catch {
    // The start takes a file that can't be read for none.
    return undefined;
  }
}

test('what is kept comes back', async () => {
  const shelf: Shelf = {
    folder: join(at.root, 'cache', 'code'),
    bundle: 'a'.repeat(32),
    runtime: 'v20.20.2-x64',
    command: '',
    details: '["/путь/с\\nновой строкой"]',
    ...(process.geteuid === undefined ? {} : { owner: process.geteuid() }),
  };
  const code = new Map([
    [0, Buffer.from('zero')],
    [7, Buffer.alloc(1000, 7)],
  ]);
  keepCode(shelf, { words: ['run', '--help'], code });
  expect(readCode(shelf)).toEqual({ words: ['run', '--help'], code });
  expect(kept({ ...shelf, details: '[]' })).toBeUndefined();
  expect(kept({ ...shelf, command: 'drives' })).toBeUndefined();
});
