import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { globals } from '../../../src/command-line/globals.ts';
import { firstScreen, TOPICS } from '../../../src/command-line/help.ts';
import { ENVIRONMENT } from '../../../src/command-line/reference/environment.ts';
import { FAILURES } from '../../../src/errors.ts';
import { FORMATS } from '../../../src/output/output.ts';
import { GROUPS, tree } from '../../contract/tree.ts';
import { createWorld, type World } from '../../support/run-cli.ts';

const ROOT = new URL('../../../', import.meta.url);

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => 'hangUp', signedIn: false });
});

async function topic(name: string): Promise<string> {
  const { code, stdout, stderr, requests } = await world.cli(['help', name]);
  expect({ code, stderr, requests }).toEqual({ code: 0, stderr: '', requests: [] });
  return stdout;
}

test.each([
  // No text beside a command, and no groups.
  [58, 17, false, false],
  [59, 20, true, false],
  [60, 22, true, true],
  [100, 18, true, true],
])('fits the first screen into %i columns and %i lines', (cells, lines, hasTexts, hasGroups) => {
  const text = firstScreen(tree, cells);
  const shown = text.split('\n');
  expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(cells);
  expect([
    ...[shown.length, text.includes('sign in with an API key')],
    text.includes('  Storage and SSH keys:'),
  ]).toEqual([lines, hasTexts, hasGroups]);
});

describe('help', () => {
  test.each(TOPICS.map(({ name }) => name))(
    'fits the help topic %s into 80 columns',
    async (name) => {
      const text = await topic(name);
      expect(text.endsWith('\n')).toBe(true);
      expect(text.split('\n').filter((line) => line.length > 80 || /\s$/.test(line))).toEqual([]);
    },
  );

  test.each(GROUPS)('lists the verbs and examples of %s', async (group) => {
    // The transcript compares all of it.
    expect(await world.cli([group, '--help'])).toMatchObject({ code: 0, stderr: '' });
  });

  test('lists the topics in help and help --help', async () => {
    await world.cli(['help']);
    const own = await world.cli(['help', '--help']);
    for (const { name, summary } of TOPICS)
      expect(own.stdout).toMatch(new RegExp(`${name} +${summary}`));
  });

  test('lists every global flag in the help topic options', async () => {
    const text = await topic('options');
    for (const flag of globals()) expect(text).toContain(`  ${flag.flags}  `);
    expect(text).toMatch(/^ {2}-h, --help {2}/m);
  });

  test('lists every exit code in the help topic exit-codes', async () => {
    const text = await topic('exit-codes');
    for (const { exit } of Object.values(FAILURES)) {
      expect(text).toMatch(new RegExp(`^  ${exit} `, 'm'));
    }
    expect(text).toMatch(/^ {2}7 +outcome_unknown +outcome unknown/m);
  });

  test('lists every format in the help topic output', async () => {
    const text = await topic('output');
    for (const format of FORMATS) expect(text).toMatch(new RegExp(`^  ${format} +\\S`, 'm'));
  });

  test('groups the flags of create, and lists the common global options last', async () => {
    const { stdout } = await world.cli(['instances', 'create', '--help']);
    expect(stdout.match(/^[A-Z][a-z]+:$/gm)).toEqual([
      'Arguments:',
      'Options:',
      'Hardware:',
      'Access:',
      'Container:',
      'Limits:',
      'Waiting:',
      'Output:',
      'Examples:',
    ]);
  });

  test('omits paths in docs/ from the help', async () => {
    for (const argv of [['expire'], ['reap'], ['events']]) {
      expect((await world.cli(['instances', ...argv, '--help'])).stdout).not.toContain('docs/');
    }
    expect(await topic('deadlines')).toContain('gpucloud instances reap --install');
    expect(await topic('scripting')).not.toContain('docs/');
  });

  test('lists the topics for an unknown topic', async () => {
    const { code, stderr } = await world.cli(['help', 'exitcodes']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'error: unknown command \'exitcodes\'\nhint: "gpucloud --help" lists the commands; the topics are options, exit-codes, environment, output, scripting, deadlines\n',
    });
  });

  test('prints the same help as COMMAND --help', async () => {
    const help = await world.cli(['help', 'drives', 'get']);
    const own = await world.cli(['drives', 'get', '--help']);
    expect(help).toEqual(own);
  });
});

describe('help in a terminal', () => {
  const person = { terminal: true, columns: 80 };

  test('fits the root help into 45 lines of 80 columns', async () => {
    const { stdout } = await world.cli(['--help'], { ...person, env: { NO_COLOR: '1' } });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(45);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  test.each([40, 58, 59, 60, 120])(
    'fits a bare gpucloud into 24 lines of %i columns',
    async (columns) => {
      const { code, stdout, stderr } = await world.cli([], { terminal: true, columns });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const lines = stdout.split('\n');
      // The prompt needs the last line.
      expect(lines.length).toBeLessThanOrEqual(24);
      expect(lines.filter((line) => line.length > columns)).toEqual([]);
      for (const words of ['Get started:', 'gpucloud login', 'instances run', 'gpucloud --help'])
        expect(stdout).toContain(words);
    },
  );

  test('shows a bare gpucloud the first steps and all groups', async () => {
    const { stdout } = await world.cli([], { terminal: true, columns: 80 });
    expect(stdout).toBe(`Rent GPU instances by the hour from the terminal, scripts and CI.

Get started:
  gpucloud sandbox tour      try everything free and offline
  gpucloud login             sign in with an API key
  gpucloud instances create  rent an instance, step by step
  gpucloud run -- COMMAND    rent, run a command, copy --fetch paths, terminate
  gpucloud status            show instances, drives, costs and problems

Commands:
  Get started:           login sandbox doctor
  Instances:             instances run jobs status audit catalog templates
  Storage and SSH keys:  drives ssh-keys
  Account:               billing me api-keys profiles logout
  Tools:                 mcp api commands completion help

More: "gpucloud --help", or "gpucloud COMMAND --help".
`);
  });

  test('wraps the columns of a command at the edge of the terminal', async () => {
    const line =
      '  name, status, phase, exit_code, command, started_at, seconds, gpu, cost_at_most, cost, ends_at,';
    const shown = async (columns: number) =>
      (await world.cli(['jobs', 'list', '--help'], { terminal: true, columns })).stdout.split('\n');
    expect(await shown(line.length)).toContain(line);
    expect(await shown(line.length - 1)).not.toContain(line);
  });

  test('prints help headings in bold in a terminal', async () => {
    const { stdout } = await world.cli(['drives', 'create', '--help'], person);
    const bold = [...stdout.matchAll(/\u001b\[1m(.+?)\u001b\[22m/g)].map(([, text]) => text);
    expect(bold).toEqual([
      'Usage:',
      'Arguments:',
      'Options:',
      'Examples:',
      'Columns (--columns, --sort):',
      'Global options:',
    ]);
    expect((await world.cli(['--help'], person)).stdout).toContain('\u001b[1mInstances:\u001b[22m');
  });
});

describe('help environment', () => {
  const known = ENVIRONMENT.flatMap(({ variables }) => variables);

  test('lists every environment variable that the program reads', () => {
    const src = fileURLToPath(new URL('src/', ROOT));
    const read = new Set(
      readdirSync(src, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .flatMap((name) => {
          const code = readFileSync(`${src}${name}`, 'utf8');
          return [...code.matchAll(/\benv\.([A-Z][A-Z0-9_]+)|'((?:GPUCLOUD|XDG)_[A-Z0-9_]+)'/g)];
        })
        .flatMap(([, direct, named]) => direct ?? named ?? []),
    );
    // HOME, PATH and USERPROFILE apply to every program, and NODE_… variables to Node. systemd sets
    // its own, and `run --here` sets these four for its command.
    const toCommand = ['ANSIBLE_INVENTORY', 'SSHLOGINFILE', 'HOSTFILE', 'SSH_CONFIG'];
    const listed = [...known, 'HOME', 'PATH', 'USERPROFILE', 'SYSTEMD_EXEC_PID'];
    const isListed = (name: string) =>
      listed.includes(name) ||
      name.startsWith('NODE_') ||
      toCommand.includes(name.replace('GPUCLOUD_', ''));
    expect([...read].filter((name) => !isListed(name))).toEqual([]);
    expect(read.size).toBeGreaterThan(8);
  });

  test('matches the help of environment to the table in docs/settings.md', () => {
    const page = readFileSync(new URL('docs/settings.md', ROOT), 'utf8');
    const rows = [
      ...page.matchAll(/^\| *(?:`(--[a-z-]+)`)? *\| *((?:`[A-Za-z_]+`(?:, )?)+) *\| *(.+?) *\|$/gm),
    ];
    const table = rows.map(([, flag, variables = '', meaning]) => ({
      ...(flag === undefined ? {} : { flag }),
      variables: variables.replaceAll('`', '').split(', '),
      meaning,
    }));
    for (const row of table) expect(ENVIRONMENT).toContainEqual(row);
    const ours = known.filter((name) => name.startsWith('GPUCLOUD_'));
    expect(table.flatMap(({ variables }) => variables)).toEqual(expect.arrayContaining(ours));
  });
});

describe('an undocumented operation', () => {
  test.each([
    [
      ['help', 'offers'],
      'error: offers: the API does not support this\nhint: use "gpucloud catalog list"',
    ],
    [['help', 'reboot'], 'error: reboot: the API does not support this\nhint: use "gpucloud'],
    [
      ['help', 'instances', 'reboot'],
      'error: instances reboot: the API does not support this\nhint: use',
    ],
    [['help', 'drives', 'delete'], 'error: drives delete: the API does not support this\nhint: '],
  ])('prints the same error for %j as for the command', async (argv, words) => {
    const { code, stdout, stderr } = await world.cli(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.startsWith(words)).toBe(true);
  });
});
