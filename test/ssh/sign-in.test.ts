import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Instance } from '../../src/api/index.ts';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { chooseKey, type HowToReach, signInFinder } from '../../src/ssh/sign-in.ts';
import { temporaryFolder } from '../support/afterwards.ts';

const [A, B] = [{ id: 'a' }, { id: 'b' }];
const held = { key: A, isHeld: true } as const;
const file = { key: A, file: '/a' };
const locked = { ...file, isLocked: true } as const;
const byAgent = { key: A, file: undefined, needs: 'agent' };

test.each([
  ['no key', [], undefined],
  ['a file', [file], { ...file, needs: 'nothing' }],
  ['a file that the agent holds too', [held, file], { ...file, needs: 'nothing' }],
  ['a file after a key in the agent', [{ ...held, key: B }, file], { ...file, needs: 'nothing' }],
  ['a key in the agent', [held, { ...held, key: B }], byAgent],
  ['a locked file that the agent holds', [held, locked], { ...file, needs: 'agent' }],
  ['a locked file of another key', [held, { ...locked, key: B, file: '/b' }], byAgent],
  ['a locked file', [locked], { ...file, needs: 'passphrase' }],
  ['a hidden public key', [{ key: B }, { key: A }, locked], { key: B, needs: 'nothing' }],
] as const)('chooses among the private keys: %s', (_what, halves, choice) => {
  expect(chooseKey(halves)).toEqual(choice);
});

describe('signing in to an instance', () => {
  const WORK = { id: 'k1', name: 'work', public_key: 'ssh-ed25519 AAAAwork ann@desk' };
  const HOME = { id: 'k2', name: null, public_key: 'ssh-ed25519 AAAAhome' };
  const OTHER = { id: 'k3', name: 'other', public_key: 'ssh-ed25519 AAAAother' };
  const HIDDEN = { id: 'k9', name: 'hidden' };
  const hide = ({ id, name }: typeof WORK | typeof HOME) => ({ id, name });

  /** A computer with both keys' files, unless the agent holds a key. */
  async function computer({ agent = '', locked = '', without = '', fault }: Partial<World> = {}) {
    const home = await temporaryFolder();
    await mkdir(join(home, '.ssh'));
    for (const [name, { public_key }] of Object.entries({ a_work: WORK, b_home: HOME, c: OTHER }))
      if (!without.includes(name))
        for (const [end, text] of [
          ['', 'private'],
          ['.pub', public_key],
        ] as const)
          await writeFile(join(home, '.ssh', `${name}${end}`), text);
    // No key, but a folder.
    await writeFile(join(home, '.ssh', 'd'), '');
    await mkdir(join(home, '.ssh', 'd.pub'));
    if (without.includes('state')) await writeFile(join(home, 'state'), '');
    let lists = 0;
    const context = {
      host: without === 'home' ? {} : { home },
      folders: async () => ({ state: join(home, 'state') }),
      api: async () => ({
        sshKeys: {
          async list() {
            lists += 1;
            if (fault !== undefined) throw fault;
            return [OTHER, HOME, WORK, HIDDEN];
          },
        },
      }),
      async start({ file, args, hear }: Parameters<Context['start']>[0]) {
        if (file === 'ssh-add') hear?.(agent, 'stdout');
        const isLocked = locked !== '' && args.at(-1)?.endsWith(locked) === true;
        return { ended: Promise.resolve(isLocked ? 1 : 0) };
      },
    } as unknown as Context;
    const shown = (text = '') => text.replaceAll(home, 'HOME');
    return { context, shown, lists: () => lists };
  }
  interface World {
    readonly agent: string;
    readonly locked: string;
    readonly without: string;
    readonly fault: Error;
  }

  const UNKNOWN = 'the keys that ssh tries by default';
  const NONE = `${UNKNOWN}; this computer has no private key for the instance`;
  const FILE = 'HOME/.ssh/a_work';
  const STORED = expect.stringMatching(/^HOME\/state\/ssh\/[0-9a-f]{16}\.pub$/);
  const refused = new CliError('refused', 'no');
  const ALL = 'a_work b_home c';

  test.each([
    ['the file of a key', [WORK], {}, [FILE, 'nothing', `key ${FILE}`, 0]],
    [
      'a locked file',
      [WORK],
      { locked: 'a_work' },
      [FILE, 'passphrase', `key ${FILE}, which has a passphrase and is not in the SSH agent`, 0],
    ],
    [
      'a key in the agent',
      [WORK],
      { agent: `${OTHER.public_key}\n${WORK.public_key}\n`, without: ALL },
      [STORED, 'agent', 'key work', 0],
    ],
    [
      'a key without a name',
      [HOME],
      { agent: HOME.public_key, without: ALL },
      [STORED, 'agent', 'key k2', 0],
    ],
    [
      "a key in the agent that can't be stored",
      [WORK],
      { agent: WORK.public_key, without: `${ALL} state` },
      ['', 'agent', 'key work', 0],
    ],
    [
      'no key of a comment',
      [WORK],
      { agent: `# ${WORK.public_key}`, without: ALL },
      ['', 'nothing', NONE, 0],
    ],
    ['a key that stays hidden', [HIDDEN], {}, ['', 'nothing', 'key hidden', 1]],
    ['no key', [], {}, ['', 'nothing', NONE, 0]],
    ['a key without an ID', [{ ...WORK, id: null }], {}, ['', 'nothing', NONE, 0]],
    ['no home folder', [WORK], { without: 'home' }, ['', 'nothing', NONE, 0]],
    ['a key of another computer', [WORK], { without: 'a_work' }, ['', 'nothing', NONE, 0]],
    ['a hidden key', [hide(WORK), HOME], {}, [FILE, 'nothing', `key ${FILE}`, 1]],
    ['a hidden key without a list', [hide(WORK)], { fault: refused }, ['', 'nothing', UNKNOWN, 1]],
  ] as const)('uses %s', async (_what, ssh_keys, world, [identity, needs, tried, lists]) => {
    const on = await computer(world);
    const find = signInFinder({ reconnect: false } as unknown as HowToReach, on.context);
    for (const id of ['one', 'two']) {
      const { how, ...rest } = await find({ id, ssh_keys } as unknown as Instance);
      expect({ ...rest, how: { ...how, identity: on.shown(how.identity) } }).toEqual({
        ...{ needs, tried: expect.anything(), how: { reconnect: false, identity } },
      });
      expect(on.shown(rest.tried)).toBe(tried);
      if (identity === STORED) {
        const [key] = ssh_keys as readonly { public_key?: string }[];
        const [type, blob] = `${key?.public_key}`.split(' ');
        expect(await readFile(`${how.identity}`, 'utf8')).toBe(`${type} ${blob}\n`);
      }
    }
    expect(on.lists()).toBe(lists);
  });

  test('prefers --identity, and that of an earlier sign-in', async () => {
    const { context } = await computer();
    const earlier = async (id: string, flags: HowToReach) => ({ ...flags, identity: `/${id}` });
    const find = signInFinder({} as HowToReach, context, earlier);
    expect(await find({ id: 'box', ssh_keys: [WORK] } as unknown as Instance)).toEqual({
      ...{ how: { identity: '/box' }, needs: 'nothing', tried: 'key /box' },
    });
  });

  test.each([
    ['an interrupt', new CliError('interrupted', 'Interrupted.')],
    ['a bug', new TypeError('oops')],
  ])('ends with %s', async (_what, fault) => {
    const { context } = await computer({ fault });
    const find = signInFinder({} as HowToReach, context);
    const box = { id: 'box', ssh_keys: [hide(WORK)] } as unknown as Instance;
    await expect(find(box)).rejects.toBe(fault);
  });
});
