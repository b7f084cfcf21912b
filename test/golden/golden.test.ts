import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Reference } from '../../src/cli/reference/index.ts';
import { commandsWhose, prepare, recipe } from '../contract/tree.ts';
import { createSandboxWorld, createWorld, type World } from '../support/run-cli.ts';
import { stderrLines } from '../support/stderr-lines.ts';
import { broken, type Promises, promisesOf } from './promises.ts';
import { joined, lost, type Shape, shapeOf } from './shapes.ts';

/**
 * Checks that scripts for an older version keep working: this version has everything in the golden
 * files. Additions pass, and `npm run golden` adds them. A removal fails; in a new major version,
 * `npm run golden -- --replace` accepts it.
 */
const MODE = process.env.GPUCLOUD_GOLDEN;
const HINT =
  'scripts rely on this. Additions need nothing; to take something away on purpose: npm run golden -- --replace';

const COMMANDS_FILE = new URL('commands.json', import.meta.url);
const SHAPES_FILE = new URL('shapes.json', import.meta.url);

function golden<T>(file: URL, empty: T): T {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : empty;
}

function write(file: URL, content: unknown): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

describe('commands --json', () => {
  test('has everything that it had', async () => {
    world = await createWorld({ handler: () => 'hangUp', signedIn: false });
    const reference: Reference = JSON.parse((await world.cli(['commands', '--json'])).stdout);
    const now = promisesOf(reference);
    const before = golden<Promises>(COMMANDS_FILE, now);
    if (MODE !== 'replace') expect(broken(before, now), HINT).toEqual([]);
    if (MODE !== undefined) write(COMMANDS_FILE, now);
  });

  test.each<[string, (promises: Promises) => unknown]>([
    ['command "drives get" is gone', (p) => ({ ...p.commands, 'drives get': undefined })],
    [
      '"drives get": flag --json is gone',
      (p) => withCommand(p, 'drives get', () => ({ without_global_flags: ['--json'] })),
    ],
    [
      '"drives create": flag --size is gone',
      (p) => withCommand(p, 'drives create', ({ flags: { '--size': _, ...flags } }) => ({ flags })),
    ],
    [
      '"drives list": column: "size_gb" is gone',
      (p) =>
        withCommand(p, 'drives list', ({ columns }) => ({
          columns: columns.filter((column) => column !== 'size_gb'),
        })),
    ],
    [
      '"drives get" needs an argument more than before',
      (p) =>
        withCommand(p, 'drives get', ({ arguments: given }) => ({
          arguments: [...given, ['value']],
        })),
    ],
  ])('reports the removal: %s', (fault, change) => {
    const before = golden<Promises | undefined>(COMMANDS_FILE, undefined);
    if (before === undefined) throw new Error('test/golden/commands.json is missing');
    const commands = JSON.parse(JSON.stringify(change(before)));
    expect(broken(before, { ...before, commands })).toEqual([fault]);
  });
});

type One = Promises['commands'][string];

function withCommand(
  { commands }: Promises,
  name: string,
  change: (command: One) => Partial<One>,
): Promises['commands'] {
  const command = commands[name];
  if (command === undefined) throw new Error(`no command ${name}`);
  return { ...commands, [name]: { ...command, ...change(command) } };
}

describe('the JSON of every command', () => {
  const before = golden<Record<string, Shape>>(SHAPES_FILE, {});
  const now: Record<string, Shape> = {};
  const answering = commandsWhose(({ notJson }) => notJson === undefined);

  test.each(answering)(
    'prints one document with the fields that it had for %s',
    async (command) => {
      const { kitchen, argv, stdin, env } = await prepare(command);
      world = kitchen;
      const { code, stdout, stderr } = await kitchen.cli(['--json', ...argv], { stdin, env });
      const { ends = [0], list = false } = recipe(command);
      expect(ends).toContain(code);
      for (const line of stderrLines(stderr)) expect(line).toEqual({ warning: expect.any(Object) });
      const document: unknown = JSON.parse(stdout);
      expect(Array.isArray(document)).toBe(list);
      expect(stdout.endsWith('\n')).toBe(true);
      const shape = shapeOf(document);
      now[command] = shape;
      if (MODE !== 'replace') expect(lost(before[command] ?? {}, shape), HINT).toEqual([]);
    },
  );

  test('has the error fields that it had', async () => {
    world = await createSandboxWorld();
    const { stderr } = await world.cli([
      'instances',
      'get',
      '11111111-1111-4111-8111-111111111111',
      '--json',
    ]);
    const shape = shapeOf(JSON.parse(stderr));
    now['(error)'] = shape;
    if (MODE !== 'replace') expect(lost(before['(error)'] ?? {}, shape), HINT).toEqual([]);
  });

  test('has a recipe for every command with a golden shape', () => {
    const known = [...answering, '(error)'];
    const missing = Object.keys(before).filter((command) => !known.includes(command));
    if (MODE !== 'replace') expect(missing, HINT).toEqual([]);
  });

  afterAll(() => {
    if (MODE === undefined) return;
    const commands = Object.keys(now).sort();
    write(
      SHAPES_FILE,
      Object.fromEntries(
        commands.map((command) => [
          command,
          MODE === 'replace' ? now[command] : joined(before[command] ?? {}, now[command] ?? {}),
        ]),
      ),
    );
  });
});

describe('a shape of JSON', () => {
  const before = shapeOf([{ id: 'a', at: null, size: 1, tags: ['x'], deep: { it: true } }]);

  test('lists paths and types', () => {
    expect(before).toEqual({
      '.': ['array'],
      '[]': ['object'],
      '[].at': ['null'],
      '[].deep': ['object'],
      '[].deep.it': ['boolean'],
      '[].id': ['string'],
      '[].size': ['number'],
      '[].tags': ['array'],
      '[].tags[]': ['string'],
    });
  });

  test('may have more than before', () => {
    const now = [{ id: 'a', at: '2026', size: 2, tags: ['x', 'y'], deep: { it: false }, new: 1 }];
    expect(lost(before, shapeOf(now))).toEqual([]);
  });

  test('may not lose fields, change a type or allow null', () => {
    const now = [{ id: null, at: null, size: '1', tags: ['x'], deep: {} }];
    expect(lost(before, shapeOf(now))).toEqual([
      '[].deep.it is gone',
      '[].id was string and is null',
      '[].size was number and is string',
    ]);
  });
});
