import { chmod, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  isPlain,
  type KnownName,
  type Lesson,
  learnNames,
  textFor,
} from '../../src/completion/names.ts';
import { anyText, fc, runs } from '../support/random.ts';
import { createSandboxWorld, createWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { ok } from '../support/service.ts';

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld();
});
afterEach(() => world.close());

const folder = () => join(world.home, 'state', 'cache', 'completion');
const SANDBOX = { GPUCLOUD_API_KEY: undefined, GPUCLOUD_BASE_URL: undefined };

/** Returns the lines of a names file without IDs, which are random. */
async function names(slot: string, shelf: string): Promise<string[]> {
  const text = await readFile(join(folder(), 'names', slot, `${shelf}.tsv`), 'utf8');
  const [head = '', ...lines] = text.split('\n').filter((line) => line !== '');
  expect(head).toBe(lines.map((line) => `\t${line.split('\t')[1]}`).join(''));
  return lines.map((line) => {
    const [kind, name, , state] = line.split('\t');
    return [kind, name, state].join(' ').replace(/ -$/, '');
  });
}

describe('commands that read names', () => {
  test("stores an instance's name until the instance is terminated", async () => {
    const env = { ...SANDBOX, GPUCLOUD_PROFILE: 'sandbox' };
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE], { env });
    expect(await names('sandbox', 'instance')).toEqual(['instance trainer PROVISIONING']);
    await world.cli(['instances', 'wait', 'trainer'], { env });
    expect(await names('sandbox', 'instance')).toEqual(['instance trainer ACTIVE']);
    await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait'], { env });
    expect(await names('sandbox', 'instance')).toEqual([]);
    await world.cli(['instances', 'list'], { env });
    expect(await names('sandbox', 'instance')).toEqual([]);
  });

  test('stores the names of drives and templates, even if only looked up', async () => {
    await world.cli(['drives', 'create', 'my data', '--size', '10', '-y']);
    await world.cli(['templates', 'get', 'vllm']);
    expect(await names('-env', 'drive')).toEqual(['drive my data AVAILABLE']);
    expect(await names('-env', 'template')).toEqual(['template jupyterlab', 'template vllm']);
  });

  test('stores offers and images by slug, such as rtx-4090', async () => {
    await world.cli(['sandbox', 'catalog'], { env: SANDBOX });
    expect(await names('sandbox', 'image')).toEqual([
      'image ubuntu-22-04',
      'image ubuntu-24-04',
      'image windows-server-2022',
    ]);
  });

  test('deletes instances but keeps offers when the sandbox is reset', async () => {
    const env = { ...SANDBOX, GPUCLOUD_PROFILE: 'sandbox' };
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE], { env });
    await world.cli(['sandbox', 'catalog'], { env });
    await world.cli(['sandbox', 'reset', '-y'], { env });
    expect(await names('sandbox', 'instance')).toEqual([]);
    expect((await names('sandbox', 'offer')).length).toBeGreaterThan(0);
  });

  test('stores profile names, the active profile first', async () => {
    await world.cli(['profiles', 'add', 'work', '--base-url', 'https://api.example.com']);
    await world.cli(['profiles', 'use', 'sandbox']);
    expect(await readFile(join(folder(), 'profiles.tsv'), 'utf8')).toBe(
      'profile\tsandbox\t-\tcurrent\nprofile\twork\t-\t-\n',
    );
  });
});

describe('the names file', () => {
  test('writes only names, IDs and states to the names file, with mode 0600', async () => {
    await world.cli(['drives', 'create', 'data', '--size', '10', '-y']);
    const file = join(folder(), 'names', '-env', 'drive.tsv');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
    expect(await readFile(file, 'utf8')).toMatch(
      /^\tdata\ndrive\tdata\t[0-9a-f-]{36}\tAVAILABLE\n$/,
    );
  });

  test('does not rewrite the names file if nothing changed', async () => {
    await world.cli(['templates', 'list']);
    const file = join(folder(), 'names', '-env', 'template.tsv');
    const before = await stat(file);
    await world.cli(['templates', 'list']);
    expect((await stat(file)).ino).toBe(before.ino);
  });

  test("does not fail a command if the names file can't be written", async () => {
    await mkdir(dirname(folder()), { recursive: true });
    await writeFile(folder(), 'a file in the place of the folder');
    expect(await world.cli(['templates', 'list', '-q'])).toMatchObject({ code: 0, stderr: '' });
  });

  test('replaces an invalid names file', async () => {
    const file = join(folder(), 'names', '-env', 'template.tsv');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '\u0000\u0001\n\t\t\t\t\t\nkind\tname\ndrive\t\n');
    await chmod(file, 0o600);
    await world.cli(['templates', 'list']);
    expect((await names('-env', 'template')).every((line) => line.startsWith('template '))).toBe(
      true,
    );
  });

  test('stores the last status of each instance', async () => {
    const states = ['ACTIVE', 'STOPPED', 'TERMINATED'] as const;
    const sighting = fc.record({
      id: fc.constantFrom('1', '11', '111'),
      state: fc.constantFrom(...states),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(sighting, { minLength: 1, maxLength: 12 }), async (sightings) => {
        const own = await mkdtemp(join(world.home, 'seen-'));
        const last = new Map<string, string>();
        for (const { id, state } of sightings) {
          const name = { kind: 'instance' as const, id, name: `box-${id}`, state };
          learnNames(own, SLOT, [seen(name)]);
          last.set(id, state);
        }
        const known = [...last].sort().map(([id, state]) => ({
          kind: 'instance' as const,
          id,
          name: `box-${id}`,
          state,
        }));
        const text = await readFile(join(own, ...NAMES, 'instance.tsv'), 'utf8').catch(() => '');
        expect(text).toBe(textFor('instance', known));
      }),
      { numRuns: runs(50) },
    );
  });

  test.each([['lacks its first line', (text: string) => text.slice(text.indexOf('\n') + 1)]])(
    'repairs a names file that %s in the next read',
    async (_how, spoil) => {
      const own = await mkdtemp(join(world.home, 'spoilt-'));
      const name = { kind: 'instance' as const, id: '1', name: 'box', state: 'ACTIVE' };
      const file = join(own, ...NAMES, 'instance.tsv');
      learnNames(own, SLOT, [seen(name)]);
      const spoilt = spoil(await readFile(file, 'utf8'));
      await writeFile(file, spoilt);
      learnNames(own, SLOT, [seen(name)]);
      expect(await readFile(file, 'utf8')).toBe(textFor('instance', [name]));
    },
  );

  test('omits a terminated instance, even if another process stored it again', async () => {
    const own = await mkdtemp(join(world.home, 'raced-'));
    const name = { kind: 'instance' as const, id: '1', name: 'box', state: 'ACTIVE' };
    learnNames(own, SLOT, [seen(name)]);
    const before = await readFile(join(own, ...NAMES, 'instance.tsv'), 'utf8');
    const ended = { ...name, state: 'TERMINATED' };
    learnNames(own, SLOT, [seen(ended)]);
    // Simulates a process that read the file earlier and writes it now.
    await writeFile(join(own, ...NAMES, 'instance.tsv'), before);
    learnNames(own, SLOT, [seen(ended)]);
    expect(await readFile(join(own, ...NAMES, 'instance.tsv'), 'utf8')).toBe('');
  });

  test('stores at most 300 names for Tab completion', async () => {
    const many = join(world.home, 'many');
    const drives = Array.from({ length: 5000 }, (_, at) => ({
      kind: 'drive' as const,
      id: `id-${at}`,
      name: `drive-${at}`,
      state: '',
    }));
    learnNames(many, SLOT, [{ kind: 'drive', change: () => drives }]);
    expect((await readFile(join(many, ...NAMES, 'drive.tsv'), 'utf8')).split('\n')).toHaveLength(
      302,
    );
  });
});

const SLOT = 'own';
const NAMES = ['completion', 'names', SLOT];

/** Returns the change after one resource was read. */
function seen(name: KnownName): Lesson {
  return {
    kind: name.kind,
    change: (names) => [name, ...names.filter(({ id }) => id !== name.id)],
  };
}

const HOSTILE = [
  '$(touch hit)',
  '`touch hit`',
  "'; touch hit; '",
  '"; touch hit; "',
  'a\tb',
  'a\nb',
  '\u001b[31mred',
  '-rf',
  '~root',
  '*',
  '',
  ' ',
  'a\\',
  '\u202eevil',
] as const;

describe('names with unusual characters', () => {
  test.each(HOSTILE)('stores the ID instead of the name %j', (name) => {
    expect(textFor('drive', [{ kind: 'drive', id: 'drive-1', name, state: 'AVAILABLE' }])).toBe(
      '\tdrive-1\ndrive\tdrive-1\tdrive-1\tAVAILABLE\n',
    );
  });

  test('accepts names with blanks, brackets and letters of any script', () => {
    for (const name of ['my data', 'Диск (2)', '数据-1', 'a@b', 'x:y/z']) {
      expect(isPlain(name)).toBe(true);
    }
  });

  test('stores the IDs of two resources that share a name', () => {
    const twin = (id: string) => ({ kind: 'drive' as const, id, name: 'data', state: '' });
    expect(textFor('drive', [twin('one'), twin('two')])).toBe(
      '\tone\ttwo\ndrive\tone\tone\t-\ndrive\ttwo\ttwo\t-\n',
    );
  });

  test('writes lines of four fields for any text', () => {
    const text = anyText();
    fc.assert(
      fc.property(fc.array(fc.record({ id: text, name: text, state: text })), (things) => {
        const lines = textFor(
          'drive',
          things.map((thing) => ({ kind: 'drive', ...thing })),
        ).split('\n');
        expect(lines.pop()).toBe('');
        const head = lines.shift();
        expect(head ?? '').toBe(lines.map((line) => `\t${line.split('\t')[1]}`).join(''));
        for (const line of lines) {
          expect(line.split('\t')).toHaveLength(4);
          expect(line).not.toMatch(/[$`'"\\;&|<>*?![\]{}~#\r\u0000-\u0008\u000b-\u001f]/);
        }
      }),
    );
  });

  test('stores IDs instead of unusual names from the service', async () => {
    const other = await createWorld({
      handler: () =>
        ok(HOSTILE.map((name, at) => ({ id: `drive-${at}`, name, status: 'AVAILABLE' }))),
    });
    await other.cli(['drives', 'list']);
    const file = join(other.home, 'state', 'cache', 'completion', 'names', '-env', 'drive.tsv');
    const [, ...lines] = (await readFile(file, 'utf8')).split('\n');
    const ids = lines.map((line) => line.split('\t')[1]);
    await other.close();
    expect(ids.filter((id) => id !== undefined)).toEqual(
      HOSTILE.map((_, at) => `drive-${at}`).sort(),
    );
  });
});
