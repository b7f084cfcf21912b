import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { Reference } from '../../src/command-line/reference/index.ts';
import { RESULTS, resultSchemaOf } from '../../src/json-results/index.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { broken, type Promises, promisesOf } from './promises.ts';
import { lost, partOf, pretty, resultsJsonSchema } from './schemas.ts';

/**
 * Checks that this version keeps everything in the golden files and schemas, so that older scripts
 * work. Additions pass, and `npm run golden` adds them. A removal fails. For a new major version,
 * `npm run golden -- --replace` accepts it.
 */
const MODE = process.env.GPUCLOUD_GOLDEN;
const HINT =
  'scripts rely on this. Additions need nothing; to take something away on purpose: npm run golden -- --replace';

const COMMANDS_FILE = new URL('commands.json', import.meta.url);
const RESULTS_FILE = new URL('../../schemas/results.json', import.meta.url);

function golden<T>(file: URL, empty: T): T {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : empty;
}

function write(file: URL, content: unknown): void {
  writeFileSync(file, `${pretty(content)}\n`);
}

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

describe('commands --json', () => {
  test('keeps all names and flags of the golden file', async () => {
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
  ])('reports the breaking change of a command: %s', (fault, change) => {
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

describe('schemas/results.json', () => {
  const now = resultsJsonSchema();
  const before = golden(RESULTS_FILE, now);

  test('matches the results, and keeps all earlier commands and fields', () => {
    const faults = Object.entries(before.properties).flatMap(([command, ref]) => {
      const next = now.properties[command];
      return next === undefined
        ? [`${command} is gone`]
        : lost(partOf(before, ref), partOf(now, next), command);
    });
    const parts = Object.keys(before.$defs).filter((name) => now.$defs[name] === undefined);
    if (MODE !== 'replace') expect([...faults, ...parts], HINT).toEqual([]);
    if (MODE !== undefined) write(RESULTS_FILE, now);
    const renew = 'renew it with: npm run generate';
    expect(readFileSync(RESULTS_FILE, 'utf8'), renew).toBe(`${pretty(now)}\n`);
  });

  test('names the part of each command', () => {
    for (const command of Object.keys(RESULTS)) {
      const { $ref } = now.properties[command] ?? {};
      expect(resultSchemaOf(command.split(' '))).toBe(`schemas/results.json${$ref}`);
    }
  });
});

describe('a changed result schema', () => {
  const before = {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        at: { type: ['string', 'null'] },
        deep: { anyOf: [{ type: 'object', properties: { it: {} } }, { type: 'null' }] },
      },
      required: ['id', 'at'],
    },
  };
  const { items } = before;

  test('accepts new fields in a result schema', () => {
    const properties = { ...items.properties, new: { type: 'string' } };
    expect(lost(before, { ...before, items: { ...items, properties } })).toEqual([]);
  });

  test('reports lost fields, changed types, and new null or missing values', () => {
    const properties = {
      id: { type: ['string', 'null'] },
      deep: { anyOf: [{ type: 'object', properties: {} }, { type: 'string' }] },
    };
    expect(lost(before, { ...before, items: { ...items, properties, required: [] } })).toEqual([
      'result[].id may be missing',
      'result[].id may be null',
      'result[].at is gone',
      'result[].deep may be string',
      'result[].deep.it is gone',
      'result[].deep may be string',
    ]);
  });
});
