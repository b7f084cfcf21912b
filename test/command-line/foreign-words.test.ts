import { beforeEach, describe, expect, test } from 'vitest';
import { type AnyCommand, about, isNamed } from '../../src/command-line/command.ts';
import { foreignWord, harmless, TABLES } from '../../src/command-line/foreign-words.ts';
import { tree } from '../contract/tree.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => 'hangUp' });
});

async function refused(argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr, requests } = await world.cli(argv);
  expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
  return stderr;
}

/** Finds the command of a suggestion: `gpucloud jobs logs NAME --follow`. */
function suggested(words: readonly string[]): { command: AnyCommand; rest: readonly string[] } {
  let command: AnyCommand = tree;
  let at = 0;
  for (; at < words.length; at += 1) {
    const next = command.commands.find((one) => isNamed(one, words[at] ?? ''));
    if (next === undefined) break;
    command = next;
  }
  return { command, rest: words.slice(at) };
}

function groupOf(name: string): AnyCommand {
  return name === '' ? tree : suggested([name]).command;
}

const WORDS = Object.entries(TABLES.words).flatMap(([group, words]) =>
  Object.entries(words).map(([word, instead]) => ({ group, word, instead })),
);
/** The commands in a hint. U+FDD0 marks the place of the profile. */
const COMMAND = /gpucloud\ufdd0?((?: (?!or )[\w.:/=-]+)+)/g;

describe("the table of other tools' words", () => {
  test('contains no word that is a command', () => {
    const known = WORDS.filter(({ group, word }) =>
      groupOf(group).commands.some((one) => isNamed(one, word)),
    );
    expect(known).toEqual([]);
  });

  test('suggests the commands and flags of its golden file', async () => {
    const lines = new Map<string, string[]>();
    const add = (hint: string, what: string) => {
      lines.set(hint, [...(lines.get(hint) ?? []), what]);
    };
    for (const { group, word } of WORDS) {
      const { message, hint } = foreignWord(group, word) ?? {};
      const isUnknown = message?.startsWith('unknown command') === true;
      add(
        `${isUnknown ? '' : 'The API does not support this; '}${hint}`,
        `${group} ${word}`.trim(),
      );
    }
    for (const { flags, of = ['any command'], hint } of TABLES.flags) {
      add(hint, `(${of.join(', ')}) ${flags.join(' ')}`);
    }
    const text = [...lines]
      .map(([hint, all]) => `${hint}\n  ${all.join(', ')}\n`)
      .join('')
      .replaceAll('\ufdd0', '');
    await expect(text).toMatchFileSnapshot('foreign-words.txt');
  });

  test('suggests only commands and flags that exist', () => {
    const lines = [
      ...WORDS.flatMap(({ instead }) =>
        typeof instead === 'string'
          ? instead.split(' or ').map((one) => `gpucloud ${one}`)
          : [instead.hint],
      ),
      ...TABLES.flags.map(({ hint }) => hint),
    ].filter((line) => !line.includes('gpucloud --version'));
    const missing = lines
      .flatMap((line) => [...line.matchAll(COMMAND)].map(([, words = '']) => words.trim()))
      .filter((line) => {
        const { command, rest } = suggested(line.split(' '));
        const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
        const flags = own.filter((word) => word.startsWith('-'));
        const isKnown = (flag: string) =>
          command.options.some(({ long, short }) => flag === long || flag === short);
        return (
          command === tree ||
          (command.commands.length > 0 && rest.length > 0) ||
          !flags.every(isKnown)
        );
      });
    expect(missing).toEqual([]);
  });

  test('names only flags in hints that the command has, and no flag that it has', () => {
    const wrong = TABLES.flags.flatMap(({ flags, of = [], hint }) =>
      of.flatMap((path) => {
        const { command, rest } = suggested(path.split(' ').filter((word) => word !== ''));
        const own = command.options.flatMap(({ long, short }) => [long, short]);
        // A hint with a whole command names that command's flags too.
        const named = /gpucloud/.test(hint) ? [] : [...hint.matchAll(/(?<= |^)--[a-z][a-z-]*/g)];
        return [
          ...rest,
          ...flags.filter((flag) => own.includes(flag)),
          ...named.map(([flag]) => flag).filter((flag) => !own.includes(flag)),
        ].map((what) => `${path} ${what}`);
      }),
    );
    expect(wrong).toEqual([]);
  });
});

const UNKNOWN = (word: string, ...commands: string[]) =>
  `error: unknown command '${word}'\nhint: use ${commands.map((one) => `"gpucloud ${one}"`).join(' or ')}\n`;

test.each([
  ['logs trainer', UNKNOWN('logs', 'jobs logs NAME', 'instances events NAME --follow')],
  ['delete trainer', UNKNOWN('delete', 'instances terminate NAME')],
  ['queue', UNKNOWN('queue', 'jobs list')],
  ['search offers', UNKNOWN('search', 'catalog list')],
  ['resume trainer', UNKNOWN('resume', 'instances start NAME')],
  ['instances pause trainer', UNKNOWN('instances pause', 'instances stop NAME')],
  ['instances logs', UNKNOWN('instances logs', 'jobs logs NAME', 'instances events NAME --follow')],
  [
    'upgrade',
    "error: unknown command 'upgrade'\nhint: install the new version the same way as the first; your settings are kept\n",
  ],
])('suggests the full command for %s', async (line, stderr) => {
  expect(await refused(line.split(' '))).toBe(stderr);
});

const CREATE = ['instances', 'create', 'box', ...HARDWARE];
const RUN = ['run', ...HARDWARE, '--terminate-after', '1h'];

test.each([
  [[...CREATE, '--gpu', 'A100'], '--gpu', '--offer sets the hardware; list known offers: '],
  [[...RUN, '--gpus=8', '--', 'ls'], '--gpus', '--offer sets the hardware; list known offers: '],
  [[...CREATE, '--region', 'eu'], '--region', 'an offer includes its region; '],
  [[...CREATE, '--key', 'laptop'], '--key', '--ssh-key sets an SSH key of the account; '],
  [['instances', 'ssh', '--key', 'k', 'box'], '--key', '--identity FILE sets a private key file\n'],
  [[...CREATE, '--disk', '100'], '--disk', 'an offer includes its disk. --drive attaches '],
  [['instances', 'stop', '--all'], '--all', 'name the instances: gpucloud instances list\n'],
  [['instances', 'terminate', 'box', '--force'], '--force', '--yes answers every question\n'],
  [[...RUN, '--rm', '--', 'ls'], '--rm', 'run always terminates the instance it rents. '],
  [[...CREATE, '--rm'], '--rm', '--terminate-after 4h terminates the instance; '],
  [[...CREATE, '--ttl', '4h'], '--ttl', '--terminate-after 4h terminates the instance at a '],
  [[...CREATE, '--type', 'a100'], '--type', '--offer sets the hardware; '],
  [[...RUN, '--workdir', '.', '--', 'ls'], '--workdir', '--sync FOLDER copies a folder, '],
  [['instances', 'list', '--format', 'json'], '--format', '-o FORMAT sets the format: '],
  [['instances', 'list', '--limit', '5'], '--limit', '--query "[:10]" keeps the first rows, '],
  [['instances', 'list', '-v'], '-v', '--debug prints requests and responses\n'],
  [[...CREATE, '-it'], '-it', 'open a shell: gpucloud instances ssh NAME; '],
  [['-v'], '-v', 'use "gpucloud --version"\n'],
  [[...CREATE, '-d'], '-d', 'create returns without waiting unless --wait is given. '],
  [['instances', 'list', '--token', 'x'], '--token', 'other programs can read arguments: '],
])("suggests gpucloud's flag for %j", async (argv, flag, hint) => {
  const stderr = await refused(argv);
  expect(stderr.startsWith(`error: unknown option '${flag}'\nhint: ${hint}`), stderr).toBe(true);
});

test('names the help for a flag that is like no other', async () => {
  expect(await refused(['instances', 'list', '--nonsense=secret'])).toBe(
    `error: unknown option '--nonsense'\nhint: "gpucloud instances list --help" lists the options\n`,
  );
});

const LISTS = (what: string, path = '') => `"gpucloud${path} --help" lists the ${what}`;

test.each([
  ['instances lst', "unknown command 'lst'", 'did you mean one of list, ls?'],
  ['profiles moov', "unknown command 'moov'", 'did you mean move?'],
  ['statsu', "unknown command 'statsu'", 'did you mean status?'],
  ['-- --insta', "unknown command '--insta'", LISTS('commands')],
  ['instances -- --list', "unknown command '--list'", LISTS('commands', ' instances')],
  ['instances list --col id', "unknown option '--col'", 'did you mean --columns or --color?'],
  ['instances list --colmns id', "unknown option '--colmns'", 'did you mean --columns?'],
  ['instances list -z', "unknown option '-z'", LISTS('options', ' instances list')],
  ['ssh-keys get', 'missing argument: key', 'usage: gpucloud ssh-keys get <key...>'],
  ['catalog add offer', 'missing argument: id', 'usage: gpucloud catalog add <kind> <id>'],
  ['drives create box --size', "option '--size <size>' argument missing", undefined],
])('says what was meant by %s', async (line, message, hint) => {
  const end = hint === undefined ? '' : `hint: ${hint}\n`;
  expect(await refused(line.split(' '))).toBe(`error: ${message}\n${end}`);
});

test.each([
  [{}, '\u001b[1mUsage:\u001b[22m gpucloud me get|show [options]\n'],
  [{ NO_COLOR: '1' }, 'Usage: gpucloud me get|show [options]\n'],
])('colours the help on a terminal with %j', async (env, first) => {
  const { stdout } = await world.cli(['me', 'get', '--help'], { terminal: true, env });
  expect(stdout.slice(0, first.length)).toBe(first);
});

test("explains docker's -it, which is -i t", async () => {
  for (const argv of [
    ['instances', 'ssh', '-it', 'box', 'bash'],
    [...RUN, '-it', '--', 'bash'],
  ]) {
    expect(await refused(argv)).toBe(
      'error: --identity "t": can\'t read the file (ENOENT)\n' +
        'hint: -i is --identity; open a shell: gpucloud instances ssh NAME; with a command, add -t for a terminal\n',
    );
  }
});

test('says that --timeout does not limit a job, before it rents', async () => {
  expect(await refused(['run', '--timeout', '4h', ...HARDWARE, '--', 'ls'])).toMatch(
    /^--timeout limits each request, not the job\. --terminate-after limits the job\.\nerror: .*--terminate-after/,
  );
});

test('reads -d of run as --detach', async () => {
  const detached = ['run', '-d', '--here', '--count', '2', '--', 'ls'];
  expect(await refused(detached)).toBe("error: --here can't be combined with --detach\n");
});

test.each([
  ['instances creat', 'instances'],
  ['instances terminat box', 'instances'],
  ['instances reaps', 'instances'],
  ['instances strt box', 'instances'],
  ['jobs stp box', 'jobs'],
  ['jobs attch box', 'jobs'],
  ['ru -- ls', ''],
])('never suggests a verb that rents or terminates: %s', async (line, group) => {
  const [first = '', second = ''] = line.split(' ');
  const word = group === '' ? first : second;
  expect(await refused(line.split(' '))).toBe(
    `error: unknown command '${word}'\nhint: "gpucloud${group && ` ${group}`} --help" lists the commands\n`,
  );
});

test('knows every verb that rents, bills or deletes', () => {
  const below = (command: AnyCommand): readonly AnyCommand[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(below);
  const suggested = below(tree)
    .filter((verb) => {
      const { destroys } = about(verb).tool ?? {};
      const rents = verb.options.some(({ long }) => long === '--terminate-after');
      return destroys || rents || verb.name() === 'start';
    })
    .flatMap((verb) => harmless([verb.name(), ...verb.aliases()]));
  expect(suggested).toEqual([]);
});

test('prints the help of a verb for `help` before it', async () => {
  const help = await world.cli(['instances', 'create', '--help']);
  expect(help.code).toBe(0);
  expect(await world.cli(['instances', 'help', 'create'])).toEqual(help);
  const group = await world.cli(['instances', '--help']);
  expect(await world.cli(['instances', 'help'])).toEqual(group);
  expect(await refused(['instances', 'help', 'nothing'])).toBe(
    `error: unknown command 'nothing'\nhint: "gpucloud instances --help" lists the commands\n`,
  );
});

test.each([
  [
    ['instances', 'create', 'box', '--offer', 'RTX', '4090', '--image', 'x'],
    'error: too many arguments: "4090"\n' +
      "hint: a value with a space needs quotes: --offer 'RTX 4090'\n",
  ],
  [
    ['instances', 'create', 'box', '--offer=RTX', '4090'],
    'error: too many arguments: "4090"\n' +
      "hint: a value with a space needs quotes: --offer 'RTX 4090'\n",
  ],
  [
    ['instances', 'create', '--offer', 'RTX', '4090'],
    'error: NAME "4090": must be 3 to 50 letters (a-z), digits or hyphens, start with a letter and not end with a hyphen\n' +
      "hint: a value with a space needs quotes: --offer 'RTX 4090'\n",
  ],
  [
    ['instances', 'create', 'box', '--offer', 'RTX', '4090', '4090'],
    'error: too many arguments: "4090"\n' +
      "hint: a value with a space needs quotes: --offer 'RTX 4090'\n",
  ],
  // The flag before the extra word is itself a value.
  [
    ['instances', 'create', 'box', '--offer', '--image', 'x'],
    'error: too many arguments: "x"\n' +
      'hint: usage: gpucloud instances create [name]; for example: gpucloud instances create\n',
  ],
  [
    ['drives', 'update', 'my', 'data', '--size', '1TB'],
    'error: too many arguments: "data"\n' + "hint: a value with a space needs quotes: 'my data'\n",
  ],
  [
    ['me', 'get', '--timeout', '5s', 'more'],
    'error: too many arguments: "more"\n' +
      'hint: usage: gpucloud me get; for example: gpucloud me get --json | jq -r .email\n',
  ],
  [
    ['sandbox', 'advance', '2', 'days'],
    'error: too many arguments: "days"\n' +
      'hint: usage: gpucloud sandbox advance <duration>; for example: gpucloud sandbox advance 10m\n',
  ],
])('names the extra word, and shows the quotes: %j', async (argv, stderr) => {
  expect(await refused(argv)).toBe(stderr);
});

test('shows no secret among too many arguments', async () => {
  const stderr = await refused(['drives', 'update', 'data', 'svc_sk_live_0123456789abcdef']);
  expect(stderr).not.toContain('0123456789abcdef');
});
