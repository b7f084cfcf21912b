import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { manualClock } from '../../support/clock.ts';
import { needs, programAt } from '../../support/needs.ts';
import { NEW } from '../../support/renting-service.ts';
import { journalOf } from '../../support/run-cli.ts';
import { no } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';
import { KEY_ID, pathWithout } from '../job-world.ts';
import { createLoopbackWorld, type LoopbackWorld } from '../loopback-world.ts';
import { rawTar } from '../raw-tar.ts';
import { ctrlC, heard, notifying, reap } from '../stories.ts';
import { addKey, CREATE_BOX, createBox } from './rented.ts';

let world: LoopbackWorld;

beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

const MINUTE = 60_000;

/** Returns the list for `sha256sum -c`, and its expected line for one file. */
function hashes(path: string, bytes: string) {
  const hash = createHash('sha256').update(bytes).digest('hex');
  const list = readFileSync(world.local(`state/rescues/${NEW}.sha256`), 'utf8');
  return { list, line: `${hash}  ${path}\n` };
}

test('terminate --rescue copies first', needs('ssh'), async () => {
  // The job of another instance does not decide from where a path counts.
  world.renting.newId = () => NEW.replace(/.$/, '9');
  await world.run('true', []);
  world.renting.newId = () => NEW;
  await createBox(world, 'out');
  const argv = ['instances', 'terminate', 'box', '--rescue', '--yes'];
  expect((await world.gpucloud(argv)).code).toBe(0);
  expect(readFileSync(world.local('got/a'), 'utf8')).toBe('result\n');
  const { list, line } = hashes(world.local('got/a'), 'result\n');
  expect(list).toBe(line);
});

test('terminate --rescue terminates nothing without a copy', needs('ssh'), async () => {
  await createBox(world, 'late');
  const argv = ['instances', 'terminate', 'box', '--rescue', '--yes'];
  expect((await world.gpucloud(argv)).code).toBe(125);
  await world.gpucloud(['instances', 'expire', 'box', '--rescue', 'none']);
  expect((await world.gpucloud(argv)).code).toBe(2);
  expect(world.status()).toBe('ACTIVE');
});

test(
  'terminate --rescue copies from each instance, and keeps all if one copy fails',
  needs('ssh'),
  async () => {
    await createBox(world, 'late');
    const id = NEW.replace(/.$/, '9');
    world.renting.newId = () => id;
    const words = CREATE_BOX.map((word) => (word === 'box' ? 'other' : word));
    const flags = ['--terminate-after', '1h', '--rescue', `out:${world.local('other')}`];
    await world.gpucloud([...words, ...flags]);
    Object.assign(world.renting.instances.get(id) ?? {}, { ssh_keys: world.renting.sshKeys });
    mkdirSync(join(world.there(id), 'out'));
    writeFileSync(join(world.there(id), 'out', 'a'), 'more\n');
    const argv = ['instances', 'terminate', 'box', 'other', '--rescue', '--yes'];
    expect(await world.gpucloud(argv)).toMatchObject({ code: 125, stdout: '' });
    expect(readFileSync(world.local('other/a'), 'utf8')).toBe('more\n');
    expect(world.terminations()).toBe(0);
  },
);

describe('reap with --rescue', needs('ssh'), () => {
  test('does not count an interrupted copy as failed', async () => {
    await notifying(world);
    await createBox(world, 'out');
    world.advance(56 * MINUTE);
    const { interrupts, press } = ctrlC();
    world.ssh.refuse = () => {
      if (!interrupts.first.aborted) press();
      return undefined;
    };
    expect((await world.gpucloud(['instances', 'reap'], { interrupts })).code).toBe(130);
    const { stdout: shown } = await world.gpucloud(['instances', 'get', 'box', '--json']);
    expect(JSON.parse(shown)).toMatchObject({ status: 'ACTIVE', rescue_failing: null });
    expect(heard(world)).toEqual([]);
  });

  test('reports a refused termination after the copy', async () => {
    await createBox(world, 'out');
    world.renting.terminations = Array.from({ length: 50 }, () => () => no(403, 'Forbidden'));
    world.advance(70 * MINUTE);
    const { rows, stderr } = await reap(world);
    expect(rows).toMatchObject([{ name: 'box', outcome: 'refused', rescued: [{ files: 1 }] }]);
    expect(rows[0].overdue_seconds).toBeGreaterThanOrEqual(600);
    expect(errorOf(stderr)).toMatchObject({
      http_status: 403,
      may_be_billing: true,
      resource: NEW,
    });
    expect(readFileSync(world.local('got/a'), 'utf8')).toBe('result\n');
  });

  test('warns about names with a line feed, which it copies but cannot compare', async () => {
    await createBox(world, 'out');
    writeFileSync(join(world.there(NEW), 'out', 'two\nlines'), 'x');
    world.advance(70 * MINUTE);
    expect((await reap(world)).code).toBe(0);
    expect(readFileSync(world.local('got/a'), 'utf8')).toBe('result\n');
    expect(readFileSync(world.local('got/two\nlines'), 'utf8')).toBe('x');
    const { list, line } = hashes(world.local('got/a'), 'result\n');
    expect(list).toBe(line);
  });

  test('warns that it cannot compare without sha256sum and shasum, and copies again', async () => {
    await createBox(world, 'out');
    world.ssh.path = await pathWithout(world.there(NEW), ['sha256sum', 'shasum']);
    world.advance(56 * MINUTE);
    expect(await reap(world)).toMatchObject({ code: 0, rows: [] });
    writeFileSync(join(world.there(NEW), 'out', 'a'), 'new\n');
    world.advance(5 * MINUTE);
    expect((await reap(world)).code).toBe(0);
    expect(readFileSync(world.local('got/a'), 'utf8')).toBe('new\n');
  });

  test.each([
    [
      'a hostile archive',
      async () => {
        const path = await pathWithout(world.there(NEW), ['tar']);
        const archive = join(path, 'archive');
        writeFileSync(archive, rawTar([{ name: '../evil', content: 'foreign' }]));
        writeFileSync(join(path, 'tar'), `#!/bin/sh\nexec cat ${archive}\n`, { mode: 0o755 });
        world.ssh.path = path;
      },
      'the instance sent \\"../evil\\", which is not a path in the folder',
    ],
    [
      'a refused key',
      async () => {
        world.ssh.refuse = () => 'Permission denied (publickey).';
      },
      'Permission denied (publickey)',
    ],
  ])(
    'keeps the instance after %s until its budget is used up, then terminates it once',
    async (_fault, begin, why) => {
      await createBox(world, 'out');
      await begin();
      // Nothing beside LOCAL changes.
      const around = () => readdirSync(world.local('.')).filter((name) => name !== 'got');
      const before = around();
      world.advance(70 * MINUTE);
      for (let pass = 0; pass < 2; pass += 1) {
        const kept = await reap(world);
        expect(kept).toMatchObject({ code: 125, rows: [{ outcome: 'kept' }] });
        expect(kept.stderr).toContain(why);
        expect(world.terminations()).toBe(0);
        world.advance(25 * MINUTE);
      }
      world.advance(15 * MINUTE);
      const ended = await reap(world);
      expect(ended).toMatchObject({ code: 125, rows: [{ outcome: 'terminated' }] });
      expect(world.terminations()).toBe(1);
      expect(around()).toEqual(before);
      expect(existsSync(world.local('got/a'))).toBe(false);
    },
  );

  test('keeps the instance for as long as its budget pays its price', async () => {
    // 20 minutes at 89.90 roubles per hour.
    await createBox(world, 'late', '--rescue-budget', '29.97');
    for (const [minutes, outcome, message] of [
      [70, 'kept', 'Could not copy the --rescue paths of box: late does not exist'],
      [14, 'kept', 'Could not copy the --rescue paths of box: late does not exist'],
      [7, 'terminated', 'The budget of box was used up'],
    ] as const) {
      world.advance(minutes * MINUTE);
      const { code, rows, stderr } = await reap(world);
      expect({ code, rows }).toMatchObject({ code: 125, rows: [{ outcome }] });
      expect(stderr).toContain(message);
    }
    expect(world.terminations()).toBe(1);
  });

  test('never counts a file as copied that the instance cannot read', async () => {
    await createBox(world, 'out');
    writeFileSync(join(world.there(NEW), 'out', 'locked'), 'x');
    const path = await pathWithout(world.there(NEW), ['sha256sum', 'tar']);
    // As for a file of another user: sha256sum leaves it out, and tar fails once it is to send it.
    const denied = 'locked: Permission denied" >&2';
    const scripts = {
      sha256sum: `code=0
for name; do
  case $name in */locked) echo "sha256sum: ${denied}; code=1 ;; *) real "$name" ;; esac
done
exit $code`,
      tar: `case "$*" in *" ./"*) real "$@"; exit ;; esac
real --exclude=locked "$@"; echo "tar: ${denied}; exit 2`,
    };
    for (const [name, script] of Object.entries(scripts)) {
      const text = `#!/bin/sh\nreal() { ${programAt(name)} "$@"; }\n${script}\n`;
      writeFileSync(join(path, name), text, { mode: 0o755 });
    }
    world.ssh.path = path;
    world.advance(56 * MINUTE);
    expect(await reap(world)).toMatchObject({ code: 125, rows: [] });
    world.advance(5 * MINUTE);
    const kept = await reap(world);
    expect(kept).toMatchObject({ code: 125, rows: [{ outcome: 'kept' }] });
    expect(world.terminations()).toBe(0);
  });

  describe.each([
    ['GNU tar', 'POSIX', []],
    ['BusyBox', 'busybox', ['tar', 'find', 'xargs', 'tr']],
  ] as const)('from an instance with %s', (_what, program, names) => {
    test(
      'sends only what has changed since the copy before the deadline',
      needs(program),
      async () => {
        await createBox(world, 'out');
        const path = await pathWithout(world.there(NEW), names);
        for (const name of names) symlinkSync(programAt('busybox') ?? '', join(path, name));
        world.ssh.path = path;
        const there = (name: string) => join(world.there(NEW), 'out', name);
        for (const name of ['same', 'changed', 'back\\slash']) writeFileSync(there(name), '1');
        world.advance(56 * MINUTE);
        expect(await reap(world)).toMatchObject({ code: 0, rows: [] });
        const placeOf = (name: string) => statSync(world.local(join('got', name))).ino;
        const before = ['a', 'same', 'back\\slash'].map(placeOf);
        writeFileSync(there('changed'), '2');
        writeFileSync(there('-new'), 'new');
        mkdirSync(there('empty'));
        symlinkSync('same', there('link'));
        world.advance(5 * MINUTE);
        expect(await reap(world)).toMatchObject({ code: 0, rows: [{ outcome: 'terminated' }] });
        expect(readFileSync(world.local('got/changed'), 'utf8')).toBe('2');
        expect(readFileSync(world.local('got/-new'), 'utf8')).toBe('new');
        expect(readFileSync(world.local('got/link'), 'utf8')).toBe('1');
        expect(readdirSync(world.local('got/empty'))).toEqual([]);
        expect(['a', 'same', 'back\\slash'].map(placeOf)).toEqual(before);
      },
    );
  });

  test.each([
    ['a name with a backslash', 'back\\nslash'],
    ['a name that begins with a hyphen', '--files-from=x'],
    ['a name with a quote and spaces', ` it's "a" `],
  ])('copies a change of %s', async (_what, name) => {
    await createBox(world, 'out');
    const there = join(world.there(NEW), 'out', name);
    writeFileSync(there, '1');
    world.advance(56 * MINUTE);
    await reap(world);
    writeFileSync(there, '2');
    world.advance(5 * MINUTE);
    expect(await reap(world)).toMatchObject({ code: 0, rows: [{ outcome: 'terminated' }] });
    expect(readFileSync(world.local(join('got', name)), 'utf8')).toBe('2');
  });

  test('sends all if a listed file is removed before it is sent', async () => {
    await createBox(world, 'out');
    world.advance(56 * MINUTE);
    await reap(world);
    const path = await pathWithout(world.there(NEW), ['tar']);
    // As tar does with a list that names a missing file.
    const tar = `#!/bin/sh\ncase $* in *' ./'*) echo 'tar: ./b: Cannot stat' >&2; exit 2;; esac\n${programAt('tar')} "$@"; echo 'tar: ./a: file changed as we read it' >&2; exit 1\n`;
    writeFileSync(join(path, 'tar'), tar, { mode: 0o755 });
    world.ssh.path = path;
    writeFileSync(join(world.there(NEW), 'out', 'a'), 'new\n');
    world.advance(5 * MINUTE);
    expect((await reap(world)).code).toBe(0);
    expect(readFileSync(world.local('got/a'), 'utf8')).toBe('new\n');
  });

  test('copies a path that changes three times, then says so', async () => {
    await createBox(world, 'out');
    const path = await pathWithout(world.there(NEW), ['tar']);
    const tar = `#!/bin/sh\n${programAt('tar')} "$@"; echo >>"$HOME/out/a"; echo >>"$HOME/sent"\n`;
    writeFileSync(join(path, 'tar'), tar, { mode: 0o755 });
    world.ssh.path = path;
    world.advance(70 * MINUTE);
    expect((await reap(world)).code).toBe(0);
    expect(readFileSync(join(world.there(NEW), 'sent'), 'utf8')).toBe('\n\n\n');
  });

  test.each([
    ['a folder', 'out'],
    ['a pattern', 'out/*'],
  ])(
    'keeps the earlier copy of %s that was removed before the deadline, and says so',
    async (_what, path) => {
      await createBox(world, path);
      world.advance(56 * MINUTE);
      expect(await reap(world)).toMatchObject({ code: 0, rows: [] });
      rmSync(join(world.there(NEW), 'out'), { recursive: true });
      world.advance(5 * MINUTE);
      expect((await reap(world)).code).toBe(0);
      expect(readFileSync(world.local('got/a'), 'utf8')).toBe('result\n');
    },
  );

  test('without a budget copies before the deadline, and then names the age of the copy', async () => {
    await notifying(world);
    await createBox(world, 'out', '--rescue-budget', '0');
    const there = join(world.there(NEW), 'out', 'a');
    for (const [minutes, text] of [
      [50, '1'],
      [6, '2'],
      [3, '3'],
    ] as const) {
      writeFileSync(there, text);
      world.advance(minutes * MINUTE);
      expect(await reap(world)).toMatchObject({ code: 0, rows: [] });
      expect(readFileSync(world.local('got/a'), 'utf8')).toBe(text);
    }
    writeFileSync(there, '4');
    world.advance(4.5 * MINUTE);
    expect((await reap(world)).code).toBe(0);
    expect(readFileSync(world.local('got/a'), 'utf8')).toBe('3');
    expect(heard(world)).toMatchObject([
      { event: 'rescue_failed', message: expect.stringMatching(/^The budget of box pays for no/) },
      { event: 'terminated_at_deadline' },
    ]);
  });

  test('sends rescue_failed once, then rescued and the termination', async () => {
    await notifying(world);
    await createBox(world, 'late');
    world.advance(70 * MINUTE);
    for (let pass = 0; pass < 2; pass += 1) {
      expect((await reap(world)).rows).toMatchObject([{ outcome: 'kept' }]);
    }
    mkdirSync(join(world.there(NEW), 'late'));
    expect((await world.gpucloud(['instances', 'rescue', 'box'])).code).toBe(0);
    const { stdout } = await world.gpucloud(['instances', 'get', 'box', '--json']);
    expect(JSON.parse(stdout).rescue_failing).toBeNull();
    expect((await reap(world)).rows).toMatchObject([{ outcome: 'terminated' }]);
    expect(heard(world)).toMatchObject([
      {
        event: 'rescue_failed',
        id: NEW,
        name: 'box',
        message: expect.stringContaining('Could not copy the --rescue paths of box: late does not'),
      },
      { event: 'rescued', message: expect.stringContaining('Copied from box: late to ') },
      { event: 'terminated_at_deadline', message: 'box was terminated at its deadline.' },
    ]);
  });
});

test('instances rescue stores what it copied of each path', needs('ssh'), async () => {
  await createBox(world, 'late', '--rescue', `out/*:${world.local('all')}/`);
  expect((await world.gpucloud(['instances', 'rescue', 'box'])).code).toBe(125);
  await world.gpucloud(['instances', 'get', 'box', '--json']);
  const late = `late:${world.local('late')}`;
  const blocked = `out:${world.local('.ssh/id_ed25519')}`;
  expect((await world.gpucloud(['instances', 'rescue', 'box', late, blocked])).code).toBe(9);
  const absolute = `${join(world.there(NEW), 'out')}:${world.local('other')}`;
  expect((await world.gpucloud(['instances', 'rescue', 'box', absolute])).code).toBe(0);
  expect(readFileSync(world.local('other/a'), 'utf8')).toBe('result\n');
  rmSync(join(world.there(NEW), 'out', 'a'));
  expect((await world.gpucloud(['instances', 'rescue', 'box'])).code).toBe(125);
});

test.each<[string, () => unknown]>([
  [
    'refuses its key',
    () => Object.assign(world.ssh, { refuse: () => 'Permission denied (publickey).' }),
  ],
  ['has ended', () => world.renting.rent(NEW, 'box', { status: 'TERMINATED' })],
  [
    'has no tar',
    async () => Object.assign(world.ssh, { path: await pathWithout(world.there(NEW), ['tar']) }),
  ],
])(
  'instances rescue copies nothing from an instance that %s',
  needs('ssh'),
  async (_what, begin) => {
    await createBox(world, 'out');
    await begin();
    expect((await world.gpucloud(['instances', 'rescue', 'box'])).code).toBe(125);
    expect(existsSync(world.local('got/a'))).toBe(false);
  },
);

test.each([
  ['reap', ['instances', 'reap']],
  ['instances rescue', ['instances', 'rescue', 'box']],
])(
  'without a budget, %s fails, and the next pass says what is lost',
  needs('ssh'),
  async (_what, argv) => {
    const more = ['--rescue', `out/a:${world.local('copied')}`];
    await createBox(world, 'late', '--rescue-budget', '0', ...more);
    world.advance(59 * MINUTE);
    expect((await world.gpucloud(argv)).code).toBe(125);
    world.advance(2 * MINUTE);
    expect(await reap(world)).toMatchObject({ code: 125, rows: [{ outcome: 'terminated' }] });
  },
);

test('instances rescue copies nothing while another process copies', needs('ssh'), async () => {
  await createBox(world, 'out');
  const scope = { service: world.service.url, apiKey: 'svc_sk_test_0123456789abcdef' };
  const journal = journalOf({ home: world.local(''), clock: manualClock() }, scope, () => true);
  const { rescue } = await journal.ends(NEW);
  if (rescue === undefined) throw new Error('no paths');
  const copy = () => world.gpucloud(['instances', 'rescue', 'box', '--json']);
  expect((await journal.withRescue(NEW, rescue, copy))?.code).toBe(5);
});

test('instances rescue NAME none removes nothing and copies nothing, but says how', async () => {
  expect((await world.gpucloud(['instances', 'rescue', 'box', 'none'])).code).toBe(2);
  expect(world.service.requests).toEqual([]);
});

describe('create --rescue', needs('ssh'), () => {
  const AFTER = ['--terminate-after', '1h'];
  test('exits with 2 and sends nothing without a deadline or an idle rule', async () => {
    world.renting.sshKeys = [addKey(world.local('.'))];
    expect((await world.gpucloud([...CREATE_BOX, '--rescue', 'out'])).code).toBe(2);
    expect(world.service.requests).toEqual([]);
  });

  test('exits with 2 and rents nothing without a private key that reap can use', async () => {
    world.renting.sshKeys = [{ id: KEY_ID, name: 'laptop', public_key: 'ssh-ed25519 AAAA' }];
    const created = await world.gpucloud([...CREATE_BOX, ...AFTER, '--rescue', 'out']);
    expect(created.code).toBe(2);
    expect(world.service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
