import { afterEach, describe, expect, test } from 'vitest';
import type { AnyCommand } from '../../src/commands/kit/command.ts';
import { addAllVerbs, buildProgram } from '../../src/program.ts';
import { createSandboxWorld, createWorld, type World } from '../support/run-cli.ts';
import { RECIPES, type Recipe } from './recipes.ts';

const FRAME = {
  context: () => {
    throw new Error('no command runs here');
  },
  wholeTree: () => Promise.reject(new Error('no command runs here')),
};

const program = buildProgram({ frame: FRAME, version: '0', write: () => undefined, width: 80 });
await addAllVerbs(program, FRAME);

/** The words of every command that does something, hidden ones aside. */
function commandsBelow(command: AnyCommand, words: readonly string[] = []): string[] {
  const shown = command.createHelp().visibleCommands(command);
  return shown.length === 0
    ? [words.join(' ')]
    : shown.flatMap((next) => commandsBelow(next, [...words, next.name()]));
}

const COMMANDS = commandsBelow(program).sort();

function recipe(command: string): Recipe {
  const found = RECIPES[command];
  if (found === undefined)
    throw new Error(`test/contract/recipes.ts has no recipe for "${command}"`);
  return found;
}

function withAnswer(answers: (command: string) => boolean): string[] {
  return COMMANDS.filter((command) => RECIPES[command] !== undefined && answers(command));
}

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** Runs the command after all that comes before it, in a fresh sandbox that is its own profile. */
async function cook(command: string, ...flags: string[]) {
  const kitchen = await createSandboxWorld();
  world = kitchen;
  const { before = [], argv = [], stdin = '' } = recipe(command);
  const fill = (text: string) =>
    text
      .replace('$BASE_URL', kitchen.env.GPUCLOUD_BASE_URL ?? '')
      .replace('$API_KEY', kitchen.env.GPUCLOUD_API_KEY ?? '');
  const state = ['--state', kitchen.sandboxFile];
  const words = (line: readonly string[]) => (line[0] === 'sandbox' ? [...line, ...state] : line);
  for (const line of before) {
    const { code, stderr } = await kitchen.cli(words(line), { stdin: fill(stdin) });
    expect(code, `${line.join(' ')}: ${stderr}`).toBe(0);
  }
  const env = command === 'login' ? { GPUCLOUD_API_KEY: undefined } : {};
  return kitchen.cli([...words([...command.split(' '), ...argv.map(fill)]), ...flags], {
    stdin: fill(stdin),
    env,
  });
}

test('every command has a recipe, and every recipe a command', () => {
  expect(Object.keys(RECIPES).sort()).toEqual(COMMANDS);
});

describe('every command', () => {
  test.each(COMMANDS)('%s has a help with an example', async (command) => {
    world = await createWorld({ handler: () => 'hangUp', signedIn: false });
    const { code, stdout, stderr, requests } = await world.cli([...command.split(' '), '--help']);
    expect({ code, stderr, requests }).toEqual({ code: 0, stderr: '', requests: [] });
    expect(stdout).toMatch(/^Usage: gpucloud /);
    expect(stdout).toContain(`\nExamples:\n  $ `);
    expect(stdout.slice(stdout.indexOf('Examples:'))).toMatch(
      new RegExp(`gpucloud (?:--?\\S+ \\S+ )*${command}`),
    );
    expect(stdout).toContain('\nGlobal options:\n');
  });

  test.each(COMMANDS)('%s refuses an unknown flag and suggests the nearest', async (command) => {
    world = await createWorld({ handler: () => 'hangUp', signedIn: false });
    const { code, stdout, stderr, requests } = await world.cli([...command.split(' '), '--jsn']);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    if (recipe(command).guarded !== true) expect(stderr).toContain('--json');
  });

  test.each(withAnswer((command) => recipe(command).notJson === undefined))(
    '%s --json is one JSON document and nothing else',
    async (command) => {
      const { code, stdout, stderr } = await cook(command, '--json');
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/^(\{"warnings":.*\}\n)?$/),
      });
      const document: unknown = JSON.parse(stdout);
      expect(Array.isArray(document)).toBe(recipe(command).list === true);
      expect(stdout.endsWith('\n')).toBe(true);
    },
  );

  test.each(withAnswer((command) => recipe(command).notJson === undefined))(
    '%s for people asks nothing and colours nothing off a terminal',
    async (command) => {
      const { code, stdout, stderr } = await cook(command);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('\u001b') });
      expect(stdout).not.toContain('\u001b');
    },
  );

  test.each(
    withAnswer(
      (command) => recipe(command).local !== true && recipe(command).notJson === undefined,
    ),
  )('%s without a working key is exit 4 and one JSON object on stderr', async (command) => {
    world = await createWorld({
      handler: () => ({
        status: 401,
        body: { statusCode: 401, message: 'no', error: 'Unauthorized' },
      }),
    });
    const { argv = [], stdin = '' } = recipe(command);
    const fill = (text: string) =>
      text
        .replace('$BASE_URL', world?.env.GPUCLOUD_BASE_URL ?? '')
        .replace('$API_KEY', 'svc_sk_wrong');
    const { code, stdout, stderr } = await world.cli(
      [...command.split(' '), ...argv.map(fill), '--json'],
      {
        stdin: fill(stdin),
      },
    );
    expect(code).toBe(4);
    expect(stdout === '' || stdout === '[]\n' || command === 'api').toBe(true);
    const { error } = JSON.parse(stderr);
    expect(error).toMatchObject({
      code: 'authentication',
      http_status: 401,
      may_be_billing: false,
    });
    expect(Object.keys(error)).toEqual(
      expect.arrayContaining([
        'code',
        'message',
        'http_status',
        'hint',
        'retryable',
        'resource',
        'may_be_billing',
      ]),
    );
  });
});

describe('every list', () => {
  const EMPTY = withAnswer(
    (command) =>
      recipe(command).list === true && / list$/.test(command) && recipe(command).local !== true,
  );

  test.each(EMPTY)(
    '%s of nothing is [] in JSON and a word on stderr for people',
    async (command) => {
      world = await createWorld({
        handler: () => ({ status: 200, body: { status: 'success', code: 200, data: [] } }),
      });
      const json = await world.cli([...command.split(' '), '--json']);
      expect(json).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
      const people = await world.cli(command.split(' '));
      expect(people).toMatchObject({ code: 0, stdout: '' });
      expect(people.stderr).not.toBe('');
    },
  );

  test.each(withAnswer((command) => recipe(command).list === true))(
    '%s has the columns of its help in each format',
    async (command) => {
      for (const format of ['csv', 'tsv', 'yaml', 'jsonl', 'id', 'table']) {
        const { code, stdout } = await cook(command, '-o', format);
        expect(code, format).toBe(0);
        expect(stdout, format).not.toContain('\u001b');
        await world?.close();
      }
      const { code, stderr } = await cook(command, '--columns', 'no_such_column');
      expect(code).toBe(2);
      expect(stderr).toContain("no column 'no_such_column'; the columns are ");
    },
  );
});
