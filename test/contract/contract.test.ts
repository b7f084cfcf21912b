import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { resultSchemaOf } from '../../src/json-results/index.ts';
import { strict } from '../golden/schemas.ts';
import { fewer } from '../support/random.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { ok } from '../support/service.ts';
import { errorOf, stderrLines } from '../support/stderr-lines.ts';
import { RECIPES } from './recipes.ts';
import {
  COMMANDS,
  columnsOf,
  commandsWhose,
  GROUPS,
  type Prepared,
  prepare,
  recipe,
} from './tree.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

let prepared: Prepared | undefined;

/** Prepares a fresh sandbox and runs the command. */
async function cook(command: string, flags: string[], isStdoutFull = false) {
  await world?.close();
  prepared = await prepare(command);
  world = prepared.kitchen;
  return serve(prepared, flags, isStdoutFull);
}

function serve({ kitchen, argv, stdin, env }: Prepared, flags: string[], isStdoutFull = false) {
  return kitchen.cli([...flags, ...argv], { stdin, env, isStdoutFull });
}

const PUBLISHED = 'schemas/results.json';
const { $defs } = Object(
  strict(JSON.parse(readFileSync(new URL(`../../${PUBLISHED}`, import.meta.url), 'utf8'))),
);

/** Returns the issues of a document against the command's part of the published schema. */
function faultsOf(document: unknown, command: string) {
  const [path, pointer] = (resultSchemaOf(command.split(' ')) ?? '').split('#');
  expect(path).toBe(PUBLISHED);
  const schema = z.fromJSONSchema({ $defs, $ref: `#${pointer}` });
  return schema.safeParse(document).error?.issues;
}

const ANSWERING = commandsWhose(({ notJson }) => notJson === undefined);
/** The commands that the test of their JSON also runs without --json. */
const PLAIN = new Set(fewer(ANSWERING));

test('finds one recipe per command', () => {
  expect(Object.keys(RECIPES).sort()).toEqual(COMMANDS);
});

describe('every command', () => {
  let offline: World;
  beforeAll(async () => {
    offline = await createWorld({ handler: () => 'hangUp', signedIn: false });
  });
  afterAll(() => offline.close());

  test.each(COMMANDS)('prints help with an example for %s', async (command) => {
    const { code, stdout, stderr, requests } = await offline.cli([...command.split(' '), '--help']);
    expect({ code, stderr, requests }).toEqual({ code: 0, stderr: '', requests: [] });
    // Matches the command's own usage, since the group's help has a usage line too.
    expect(stdout).toMatch(new RegExp(`^Usage: gpucloud ${command}(\\|\\S+)? `));
    expect(stdout).toContain(`\nExamples:\n  $ `);
    expect(stdout.slice(stdout.indexOf('Examples:'))).toMatch(
      new RegExp(`gpucloud (?:--?\\S+ \\S+ )*${command}`),
    );
    expect(stdout.endsWith('\nAll of them: gpucloud help options\n')).toBe(true);
    expect(stdout).not.toContain('--base-url <url>');
    const argv = [...command.split(' '), '--help', '--no-color'];
    const narrow = await offline.cli(argv, { terminal: true, columns: 80 });
    expect(narrow.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test.each(GROUPS)('prints help with examples for the group %s', async (group) => {
    const { code, stdout } = await offline.cli([group, '--help']);
    expect(code).toBe(0);
    const examples = stdout.slice(stdout.indexOf('\nExamples:\n')).split('\n').slice(2, -4);
    expect(examples.length).toBeGreaterThan(1);
    for (const line of examples) expect(line).toMatch(new RegExp(`gpucloud .*\\b${group}\\b`));
    expect((await offline.cli(['help', group])).stdout).toBe(stdout);
  });

  test.each(COMMANDS)('rejects an unknown flag of %s and suggests the nearest', async (command) => {
    const { code, stdout, stderr, requests } = await offline.cli([...command.split(' '), '--jsn']);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stderr).toMatch(/^error: .+\n(hint: .+\n)?$/);
    if (recipe(command).guarded !== true) expect(stderr).toContain('--json');
    const json = await offline.cli([...command.split(' '), '--json', '--jsn']);
    expect(errorOf(json.stderr)).toMatchObject({ code: 'usage', may_be_billing: false });
  });

  test.each(ANSWERING)(
    'prints JSON that fits its schema, fails if the disk behind stdout is full, and prints plain text: %s',
    async (command) => {
      const { ends = [0], list = false, local = false } = recipe(command);
      const { code, stdout, stderr, requests } = await cook(command, ['--json']);
      expect(ends).toContain(code);
      for (const line of stderrLines(stderr)) {
        expect(line).toEqual({ warning: expect.any(Object) });
      }
      expect(stdout.endsWith('\n')).toBe(true);
      const document: unknown = JSON.parse(stdout);
      expect(Array.isArray(document)).toBe(list);
      if (command === 'api') expect(resultSchemaOf(['api'])).toBeNull();
      else expect(faultsOf(document, command)).toBeUndefined();
      // A command that changes something needs a fresh sandbox.
      const reads = !local && requests.every(({ method }) => method === 'GET');
      const again = (flags: string[], isStdoutFull = false) =>
        reads && prepared !== undefined
          ? serve(prepared, flags, isStdoutFull)
          : cook(command, flags, isStdoutFull);
      const full = await again(['--json'], true);
      expect({ code: full.code, error: errorOf(full.stderr).code }).toEqual({
        code: 9,
        error: 'storage',
      });
      if (!PLAIN.has(command)) return;
      const shown = await again([]);
      expect(ends).toContain(shown.code);
      expect({ stderr: shown.stderr }).toEqual({ stderr: expect.not.stringContaining('\u001b') });
      expect(shown.stdout).not.toContain('\u001b');
    },
  );

  test.each([
    ['instances create', ['lab', ...HARDWARE, '--dry-run']],
    ['instances get', ['trainer', 'trainer']],
    ['instances terminate', ['trainer', 'trainer', '-y']],
    ['instances reap', ['--status']],
    ['instances reap', ['--dry-run']],
    ['commands', ['instances']],
    ['commands', ['instances', 'get']],
  ])('prints another form of its result with the same schema: %s %j', async (command, words) => {
    const { kitchen } = await prepare('instances get');
    world = kitchen;
    const { stdout } = await kitchen.cli(['--json', ...command.split(' '), ...words]);
    expect(faultsOf(JSON.parse(stdout), command)).toBeUndefined();
  });

  test.each(commandsWhose(({ local, notJson }) => local !== true && notJson === undefined))(
    'exits with 4 and JSON lines on stderr for %s without a working key',
    async (command) => {
      world = await createWorld({
        handler: () => ({
          status: 401,
          body: { statusCode: 401, message: 'no', error: 'Unauthorized' },
        }),
      });
      const { argv = [], stdin = '' } = recipe(command);
      // This computer knows no names, so only a UUID reaches the service.
      const id = '3f0c5d9e-1111-4222-8333-444455556666';
      const fill = (text: string) =>
        text
          .replace('$BASE_URL', world?.env.GPUCLOUD_BASE_URL ?? '')
          .replace('$INSTANCE', id)
          .replace(/^(?:trainer|lab)(?=$|:)/, command === 'instances create' ? '$&' : id)
          .replace('$API_KEY', 'svc_sk_wrong');
      const { code, stdout, stderr } = await world.cli(
        ['--json', ...command.split(' '), ...argv.map(fill)],
        {
          stdin: fill(stdin),
        },
      );
      expect(code).toBe(4);
      expect(stdout === '' || stdout === '[]\n' || command === 'api').toBe(true);
      expect(errorOf(stderr)).toMatchObject({
        code: 'authentication',
        http_status: 401,
        // Without a read, the instance may still be billing.
        may_be_billing: /^instances (stop|terminate|wait)$/.test(command),
      });
    },
  );
});

describe('every list', () => {
  const EMPTY = commandsWhose(({ list, local }) => list === true && local !== true).filter(
    (command) => / list$/.test(command),
  );

  test.each(EMPTY)('prints [] in JSON and a note on stderr for an empty %s', async (command) => {
    world = await createWorld({
      handler: () => ok([]),
    });
    const json = await world.cli([...command.split(' '), '--json']);
    expect(json).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
    const people = await world.cli(command.split(' '));
    expect(people).toMatchObject({ code: 0, stdout: '' });
    expect(people.stderr).not.toBe('');
  });

  const LISTS = commandsWhose(({ list, named }) => list === true || named === true);

  test.each(LISTS)('prints the columns from its help in each format: %s', async (command) => {
    let prepared = await prepare(command);
    world = prepared.kitchen;
    const run = async (...flags: string[]) => {
      const { kitchen, argv, stdin, env } = prepared;
      const result = await kitchen.cli([...argv, ...flags], { stdin, env });
      // The service would refuse a second start or delete.
      if (/ (start|delete)$/.test(command)) {
        await kitchen.close();
        prepared = await prepare(command);
        world = prepared.kitchen;
      }
      return result;
    };
    const others = fewer(['tsv', 'yaml', 'jsonl', 'table'], LISTS.indexOf(command));
    for (const format of ['csv', 'id', ...others]) {
      const { code, stdout } = await run('-o', format);
      expect(code, format).toBe(0);
      expect(stdout, format).not.toContain('\u001b');
      if (format !== 'csv' && format !== 'tsv') continue;
      const [head = [], first] = stdout
        .split('\n')
        .map((line) => line.split(format === 'csv' ? ',' : '\t'));
      const at = head.indexOf('id');
      expect(at >= 0, head.join()).toBe(columnsOf(command).includes('id'));
      if (at >= 0 && first?.[0] !== '') expect(first?.[at], format).not.toBe('');
    }
    const { code, stderr } = await run('--columns', 'no_such_column');
    expect(code).toBe(2);
    expect(stderr).toContain("unknown column 'no_such_column'; available columns: ");
  });
});
