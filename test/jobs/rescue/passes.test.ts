import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { NEW } from '../../support/renting-service.ts';
import { warningsOf } from '../../support/stderr-lines.ts';
import { KEY_ID, pathWithout } from '../job-world.ts';
import { createLoopbackWorld, type LoopbackWorld } from '../loopback-world.ts';
import { heard, notifying, reap } from '../stories.ts';
import { addKey, CREATE_BOX, createBox } from './rented.ts';

let world: LoopbackWorld;

beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

const MINUTE = 60_000;

describe('reap with --rescue', needs('ssh'), () => {
  test('warns about names with a line feed, which it copies but cannot compare', async () => {
    await createBox(world, 'out');
    writeFileSync(join(world.there(NEW), 'out', 'two\nlines'), 'x');
    world.advance(70 * MINUTE);
    const { code, stderr } = await reap(world);
    expect({ code, warnings: warningsOf(stderr) }).toEqual({
      code: 0,
      warnings: ['Could not compare all of out of box: names with a line feed are not compared'],
    });
    expect(readFileSync(world.local('got/a'), 'utf8')).toBe('result\n');
    expect(readFileSync(world.local('got/two\nlines'), 'utf8')).toBe('x');
  });

  test('warns that it cannot compare without sha256sum and shasum', async () => {
    await createBox(world, 'out');
    world.ssh.path = await pathWithout(world.there(NEW), ['sha256sum', 'shasum']);
    world.advance(70 * MINUTE);
    const { code, stderr } = await reap(world);
    expect({ code, warnings: warningsOf(stderr) }).toEqual({
      code: 0,
      warnings: [
        'Could not compare all of out of box: the instance has neither sha256sum nor shasum',
      ],
    });
    expect(readFileSync(world.local('got/a'), 'utf8')).toBe('result\n');
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
      const { code, rows, stderr } = await reap(world);
      expect({ code, rows, stderr }).toMatchObject({
        code: 0,
        rows: [
          {
            outcome: 'terminated',
            rescued: [{ remote: path, files: 1, bytes: 7, changing: [], failure: null }],
          },
        ],
        stderr: expect.stringContaining(
          `${path} no longer exists on box. Its earlier copy is kept in ${world.local('got')}`,
        ),
      });
      expect(readFileSync(world.local('got/a'), 'utf8')).toBe('result\n');
    },
  );

  test('sends rescue_failed once, then rescued and the termination', async () => {
    await notifying(world);
    await createBox(world, 'late');
    world.advance(70 * MINUTE);
    for (let pass = 0; pass < 2; pass += 1) {
      expect((await reap(world)).rows).toMatchObject([{ outcome: 'kept' }]);
    }
    mkdirSync(join(world.there(NEW), 'late'));
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

test('instances rescue NAME none removes nothing and copies nothing, but says how', async () => {
  const { code, stderr } = await world.gpucloud(['instances', 'rescue', 'box', 'none']);
  expect({ code, stderr, requests: world.service.requests }).toEqual({
    code: 2,
    stderr:
      'error: REMOTE "none": only "instances expire" removes the paths of --rescue\n' +
      'hint: remove them: gpucloud instances expire box --rescue none; copy a file or folder named none: gpucloud instances rescue box ./none\n',
    requests: [],
  });
});

describe('create --rescue', needs('ssh'), () => {
  const AFTER = ['--terminate-after', '1h'];
  test.each([
    [
      'without a deadline or an idle rule',
      ['--rescue', 'out'],
      'error: --rescue needs a deadline or an idle rule: without one, nothing ends the instance by itself\n' +
        'hint: add --terminate-after 4h or --if-idle 45m\n',
    ],
    [
      'with a budget but no path',
      [...AFTER, '--rescue-budget', '5'],
      'error: --rescue-budget needs --rescue\n',
    ],
    [
      'with a budget that is not a number',
      [...AFTER, '--rescue', 'out', '--rescue-budget', 'much'],
      'error: --rescue-budget "much": must be a decimal number of roubles, such as 1500 or 99.90\n',
    ],
    [
      'with none and a path',
      [...AFTER, '--rescue', 'none', '--rescue', 'out'],
      `error: --rescue: "none" can't be combined with paths\n`,
    ],
    [
      'with a LOCAL below a file',
      [...AFTER, '--rescue', 'out:/dev/null/x'],
      `error: --rescue "out": "/dev/null" is not a folder\n`,
    ],
  ])('exits with 2 and sends nothing %s', async (_how, words, message) => {
    world.renting.sshKeys = [addKey(world.local('.'))];
    const { code, stdout, stderr } = await world.gpucloud([...CREATE_BOX, ...words]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: message });
    expect(world.service.requests).toEqual([]);
  });

  test.each([
    ['the home folder', '.', 'out'],
    ['a folder above it', '..', 'out'],
    ['the home folder, for a pattern', '.', 'out/*'],
  ])('exits with 2 and sends nothing if LOCAL is %s', async (_what, above, remote) => {
    const local = world.local(above);
    const { code, stdout, stderr } = await world.gpucloud([
      ...CREATE_BOX,
      ...AFTER,
      ...['--rescue', `${remote}:${local}`],
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^error: --rescue "out.*": ".*" contains your home folder\nhint: name a folder for the files: 'REMOTE:LOCAL'\n$/,
    );
    expect(world.service.requests).toEqual([]);
  });

  test('exits with 2 and rents nothing without a private key that reap can use', async () => {
    world.renting.sshKeys = [{ id: KEY_ID, name: 'laptop', public_key: 'ssh-ed25519 AAAA' }];
    const { code, stderr } = await world.gpucloud([...CREATE_BOX, ...AFTER, '--rescue', 'out']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `error: --rescue: a scheduled "instances reap" can't sign in to the instance (SSH keys: laptop), since this computer has no private key for it\n` +
        'hint: use an SSH key whose file has no passphrase: --ssh-key NAME\n',
    );
    expect(world.service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
