import { beforeEach, describe, expect, test } from 'vitest';
import type { CommandReference, Reference } from '../../../src/command-line/reference/index.ts';
import { FAILURES } from '../../../src/errors.ts';
import { COMMANDS, commandsWhose } from '../../contract/tree.ts';
import { createWorld, type World } from '../../support/run-cli.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => 'hangUp', signedIn: false });
});

async function reference(): Promise<Reference> {
  const { code, stdout, stderr, requests } = await world.cli(['commands', '--json']);
  expect({ code, stderr, requests }).toEqual({ code: 0, stderr: '', requests: [] });
  return JSON.parse(stdout);
}

function commandNamed(tree: Reference, name: string): CommandReference {
  const found = tree.commands.find(({ command }) => command === name);
  if (found === undefined) throw new Error(`no command ${name}`);
  return found;
}

describe('commands --json', () => {
  test('lists every command of the tree, in help order', async () => {
    const { commands, groups } = await reference();
    expect(commands.map(({ command }) => command).sort()).toEqual(COMMANDS);
    expect(groups[0]).toEqual({
      name: 'login',
      aliases: [],
      summary: 'Sign in with an API key',
      heading: 'Get started',
    });
  });

  test('describes every argument, flag and exit code of a command', async () => {
    const tree = await reference();
    const stop = commandNamed(tree, 'instances stop');
    expect(stop).toEqual({
      command: 'instances stop',
      words: ['instances', 'stop'],
      aliases: [],
      summary: 'Stop instances; their disks are kept',
      notes: expect.stringContaining('To stop paying, terminate it.'),
      usage: 'gpucloud instances stop [options] <instance...>',
      arguments: [
        {
          name: 'instance',
          required: true,
          variadic: true,
          type: 'string',
          choices: null,
          default: null,
          description: 'names or IDs; - reads them from stdin, one per line',
        },
      ],
      flags: [
        {
          long: '--wait',
          short: null,
          type: 'boolean',
          value: null,
          value_optional: false,
          repeatable: false,
          choices: null,
          default: null,
          description: 'wait until the instance is stopped',
        },
        {
          long: '--wait-timeout',
          short: null,
          type: 'duration',
          value: 'duration',
          value_optional: false,
          repeatable: false,
          choices: null,
          default: '15m',
          description: 'time limit for the whole wait',
        },
        expect.objectContaining({ long: '--poll-interval', type: 'duration', default: '2s' }),
      ],
      without_global_flags: [],
      columns: [
        { name: 'name', kind: 'text', shown: true },
        { name: 'id', kind: 'text', shown: true },
        { name: 'status', kind: 'status', shown: true },
        { name: 'paid_until', kind: 'time', shown: true },
        { name: 'ends_at', kind: 'time', shown: false },
      ],
      examples: expect.arrayContaining(['gpucloud instances list -q | gpucloud instances stop -']),
      exit_codes: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 129, 130, 143],
      passes_on_exit_code_of: null,
      tool: {
        allow: 'all',
        destructive: false,
        idempotent: true,
        confirms: false,
        without_flags: [],
      },
      result_schema: 'schemas/results.json#/$defs/ChangedInstanceOrList',
    });
  });

  test('marks each flag as repeatable if its description says so', async () => {
    const { commands } = await reference();
    const flags = commands.flatMap(({ flags: own }) => own);
    const saying = flags.filter(({ description }) => description.includes('(repeatable)'));
    expect(saying.length).toBeGreaterThan(3);
    expect(saying.filter(({ repeatable }) => !repeatable)).toEqual([]);
  });

  test('lists an example for every command', async () => {
    const { commands } = await reference();
    for (const { command, examples } of commands) {
      expect(examples.length, command).toBeGreaterThan(0);
    }
  });

  test('lists all exit codes that commands use', async () => {
    const { exit_codes, commands } = await reference();
    expect(exit_codes[0]).toEqual({ exit_code: 0, code: null, meaning: 'done' });
    expect(exit_codes).toContainEqual({
      exit_code: 7,
      code: 'outcome_unknown',
      meaning: FAILURES.outcomeUnknown.meaning,
    });
    const known = exit_codes.map(({ exit_code }) => exit_code);
    for (const { command, exit_codes: codes } of commands) {
      expect(
        codes.filter((code) => !known.includes(code)),
        command,
      ).toEqual([]);
    }
  });

  test('omits exit code 4 only for offline commands', async () => {
    const { commands } = await reference();
    const local = commands.filter(({ exit_codes }) => !exit_codes.includes(4));
    const proved = [...commandsWhose((recipe) => recipe.local === true), 'sandbox serve'];
    expect(local.length).toBeGreaterThan(10);
    expect(local.map(({ command }) => command).filter((one) => !proved.includes(one))).toEqual([]);
  });
});

describe('commands PATH', () => {
  const LISTS = '"gpucloud --help" lists the commands';

  test('prints the JSON entry of a command', async () => {
    const whole = await reference();
    const one = await world.cli(['commands', 'drives', 'get', '--json']);
    // Also accepts the aliases of a group and a verb.
    expect((await world.cli(['commands', 'drive', 'show', '--json'])).stdout).toBe(one.stdout);
    const status = await world.cli(['commands', 'status', '--json']);
    expect(JSON.parse(status.stdout)).toEqual(commandNamed(whole, 'status'));
  });

  test('prints the entry of a group and its commands', async () => {
    await world.cli(['commands', 'drives', '--json']);
    await world.cli(['commands', 'drives', 'resume', '-o', 'yaml']);
    await world.cli([
      'commands',
      'drives',
      '--json',
      '--sort',
      '-command',
      '--query',
      '[].command',
    ]);
    const rows = await world.cli(['commands', 'drives', '-q']);
    expect(rows.stdout.split('\n')).toContain('drives update');
    expect(rows.stdout).not.toContain('instances');
  });

  test.each([
    ['nothing', LISTS],
    ['drives nothing', LISTS],
    ['drives get more', LISTS],
    ['update', 'did you mean "drives update" or "me update"?'],
    ['update data', 'did you mean "drives update" or "me update"?'],
  ])('exits with 2 for the unknown command %j', async (path, hint) => {
    const { code, stdout, stderr } = await world.cli(['commands', ...path.split(' ')]);
    expect({ code, stdout, stderr }).toEqual({
      ...{ code: 2, stdout: '', stderr: `error: unknown command '${path}'\nhint: ${hint}\n` },
    });
  });
});

describe('commands', () => {
  test('prints a line per command for people', async () => {
    const { stdout } = await world.cli(['commands']);
    expect(stdout.trim().split('\n')).toHaveLength(COMMANDS.length + 1);
  });
});
