import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { runs } from '../support/random.ts';
import { bundledChild, start } from './processes.ts';

const NOBODY = 65534;
const root = process.getuid?.() === 0;

let bundles: string;
let child: string;
let place: string;
let folder: string;
let path: string;

beforeAll(async () => {
  bundles = await mkdtemp(join(tmpdir(), 'gpucloud-child-'));
  child = await bundledChild(bundles);
});

afterAll(async () => {
  await rm(bundles, { recursive: true, force: true });
});

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'gpucloud-config-'));
  await chmod(place, 0o755);
  folder = join(place, 'config');
  path = join(folder, 'config.json');
});

afterEach(async () => {
  await chmod(folder, 0o700).catch(() => undefined);
  await rm(place, { recursive: true, force: true });
});

interface Answer {
  profiles?: number;
  failure?: string;
  message?: string;
  exitCode?: number;
}

function answers(stdout: string): Answer[] {
  return stdout
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text) as Answer);
}

/** Runs the child in a shell that can set limits and a umask. */
async function shell(script: string, env: Record<string, string> = {}): Promise<Answer[]> {
  const run = start('bash', ['-c', script, 'bash', process.execPath, child, folder], { env });
  const { stdout, stderr } = await run.ended;
  expect(stderr).toBe('');
  return answers(stdout);
}

/** Runs the child as another user, since file modes do not restrict root. */
async function bound(...args: string[]): Promise<Answer[]> {
  const run = start(process.execPath, [child, ...args], root ? { uid: NOBODY } : {});
  const { stdout, stderr } = await run.ended;
  expect(stderr).toBe('');
  return answers(stdout);
}

async function ownedFile(content: string, mode: number): Promise<void> {
  await mkdir(folder);
  await writeFile(path, content);
  if (root) {
    await chown(folder, NOBODY, NOBODY);
    await chown(path, NOBODY, NOBODY);
  }
  await chmod(path, mode);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const ONE = '{"profiles":{"one":{"base_url":"https://a.example.com"}}}';

test('keeps every change of several processes that each make twenty', {
  timeout: 60_000,
}, async () => {
  const processes = runs(8, 4);
  const running = Array.from({ length: processes }, (_, who) =>
    start(process.execPath, [child, 'add', folder, `w${who}`, '20']),
  );
  for (const { ended } of running) {
    const { status, stdout, stderr } = await ended;
    expect([status, stderr]).toEqual([0, '']);
    expect(answers(stdout)).toEqual([{ profiles: expect.any(Number) }]);
  }
  const names = Object.keys(JSON.parse(await readFile(path, 'utf8')).profiles);
  const all = Array.from(
    { length: processes * 20 },
    (_, at) => `w${Math.floor(at / 20)}-${at % 20}`,
  );
  expect(names.sort()).toEqual(all.sort());
  expect(await readdir(folder)).toEqual(['config.json']);
});

test('leaves a valid config file if killed at any moment', { timeout: 60_000 }, async () => {
  await mkdir(folder);
  await writeFile(path, ONE);
  let before = 1;
  for (let round = 0; round < runs(12); round += 1) {
    const running = start(process.execPath, [child, 'add', folder, `r${round}`, '1000']);
    const old = await readFile(path, 'utf8');
    while ((await readFile(path, 'utf8')) === old) await pause(5);
    await pause(3 * round);
    running.kill();
    await running.ended;
    const { profiles } = JSON.parse(await readFile(path, 'utf8'));
    expect(Object.keys(profiles).length).toBeGreaterThan(before);
    before = Object.keys(profiles).length;
    await rm(`${path}.lock`, { recursive: true, force: true });
  }
  expect(await shell('"$1" "$2" fill "$3" 10')).toEqual([{ profiles: before + 1 }]);
  expect(await readdir(folder)).toEqual(['config.json']);
});

test('creates the config folder with mode 0700 and the file with 0600 under any umask', async () => {
  expect(await shell('umask 000; "$1" "$2" fill "$3" 10')).toEqual([{ profiles: 1 }]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await shell('umask 000; "$1" "$2" add "$3" w 1')).toEqual([{ profiles: 2 }]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

// A file size limit truncates a write without an error, like a full disk. SNAP makes conf write in
// place.
test.each([
  [{}, 'the write was incomplete; the disk may be full'],
  [{ SNAP: '/snap/x' }, 'the file would exceed the size limit'],
])(
  'reports an incomplete write, and leaves the config file unchanged (%j)',
  async (env: Record<string, string>, why) => {
    await mkdir(folder);
    await writeFile(path, ONE);
    const [answer] = await shell('ulimit -f 2; "$1" "$2" fill "$3" 5000', env);
    expect(answer).toEqual({
      failure: 'storage',
      exitCode: 9,
      message: `could not save the change to ${path}: ${why}`,
    });
    expect(await readFile(path, 'utf8')).toBe(ONE);
    expect(await readdir(folder)).toEqual(['config.json']);
    expect(await shell('ulimit -f 8; "$1" "$2" fill "$3" 5000', env)).toEqual([{ profiles: 2 }]);
  },
);

test('syncs the config file before renaming it', needs('strace'), async () => {
  await mkdir(folder);
  const trace = join(place, 'trace');
  const calls = 'trace=fsync,fdatasync,rename,renameat,renameat2';
  const args = ['-f', '-y', '-qq', '-e', calls, '-e', 'signal=none', '-o', trace];
  const run = start('strace', [...args, process.execPath, child, 'fill', folder, '10']);
  expect((await run.ended).status).toBe(0);
  const steps = (await readFile(trace, 'utf8'))
    .split('\n')
    .filter((text) => text.includes(folder))
    .map((text) => (text.includes('rename') ? `rename ${last(text)}` : `fsync ${last(text)}`));
  expect(steps).toEqual([
    expect.stringMatching(/^fsync .*\.tmp-/),
    `rename ${path}.new`,
    `rename ${path}`,
    `fsync ${folder}`,
  ]);
});

/** Returns the target of a traced rename, or the file of an fsync. */
function last(call: string): string {
  return /["<](\/[^">]*)[">][^"<]*$/.exec(call)?.[1] ?? '';
}

test(
  'leaves the config file unchanged on a full disk, and accepts a change later',
  needs('mount namespaces'),
  async () => {
    await mkdir(folder);
    const script = `unshare --mount --map-root-user bash -c '
    mount -t tmpfs -o size=32k t "$3"
    "$1" "$2" add "$3" small 1
    cp "$3/config.json" "$4/before"
    cat /dev/zero > "$3/ballast" 2>/dev/null; truncate -s -$5 "$3/ballast"
    "$1" "$2" fill "$3" 9000
    ls "$3" > "$4/names"; cmp "$3/config.json" "$4/before" && echo same
    rm "$3/ballast"
    "$1" "$2" fill "$3" 9000
  ' bash "$1" "$2" "$3" "\${3%/*}"`;
    for (const free of ['0', '4096']) {
      const run = start('bash', [
        ...['-c', `${script} ${free}`, 'bash', process.execPath, child, folder],
      ]);
      const { stdout, stderr } = await run.ended;
      expect(stderr).toBe('');
      const [small, full, later] = answers(stdout);
      expect(small).toEqual({ profiles: 1 });
      expect(full).toMatchObject({ failure: 'storage', exitCode: 9 });
      expect(full?.message).toContain(path);
      expect(stdout).toContain('same');
      expect(await readFile(join(place, 'names'), 'utf8')).toBe('ballast\nconfig.json\n');
      expect(later).toEqual({ profiles: 2 });
    }
  },
);

test(
  'reads the config file from a read-only disk, and reports failed changes',
  needs('mount namespaces'),
  async () => {
    await mkdir(folder);
    await writeFile(path, ONE);
    const found = await shell(`unshare --mount --map-root-user bash -c '
    mount --bind "$3" "$3" && mount -o remount,ro,bind "$3"
    "$1" "$2" read "$3"; "$1" "$2" fill "$3" 10
  ' bash "$1" "$2" "$3"`);
    expect(found[0]).toEqual({ profiles: 1 });
    expect(found[1]).toMatchObject({ failure: 'storage', exitCode: 9 });
    expect(found[1]?.message).toContain('read-only');
    expect(await readFile(path, 'utf8')).toBe(ONE);
  },
);

test('reads the config file from a read-only folder, and reports failed changes', async () => {
  await ownedFile(ONE, 0o600);
  await chmod(folder, 0o500);
  expect(await bound('read', folder)).toEqual([{ profiles: 1 }]);
  const [answer] = await bound('fill', folder, '10');
  expect(answer).toMatchObject({ failure: 'storage', exitCode: 9 });
  expect(answer?.message).toContain(path);
  expect(answer?.message).toContain('permission denied');
  expect(await readFile(path, 'utf8')).toBe(ONE);
});

test("saves a change if a lock can't be released, and takes over the lock later", async () => {
  await ownedFile(ONE, 0o600);
  expect(await bound('shut', folder)).toEqual([{ profiles: 1 }]);
  expect(await readdir(folder)).toEqual(['config.json', 'config.json.lock']);
  await chmod(folder, 0o700);
  const long = new Date(Date.now() - 11_000);
  await utimes(`${path}.lock`, long, long);
  expect(await bound('add', folder, 'next', '1')).toEqual([{ profiles: 2 }]);
  expect(await readdir(folder)).toEqual(['config.json']);
});

test("reports a config folder that can't be created", async () => {
  await chmod(place, 0o555);
  const [answer] = await bound('fill', folder, '10');
  expect(answer).toMatchObject({ failure: 'storage', exitCode: 9 });
  expect(answer?.message).toContain('permission denied');
  await chmod(place, 0o755);
});

test("reports a config file that can't be read, and never overwrites it", async () => {
  await ownedFile(ONE, 0o000);
  for (const args of [
    ['read', folder],
    ['fill', folder, '10'],
  ]) {
    const [answer] = await bound(...args);
    expect(answer).toMatchObject({ failure: 'storage', exitCode: 9 });
    expect(answer?.message).toContain(path);
    expect(answer?.message).toContain('permission denied');
  }
  await chmod(path, 0o600);
  expect(await readFile(path, 'utf8')).toBe(ONE);
});
