import { beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type World } from './support/run-cli.ts';
import { HARDWARE, OFFERED } from './support/sandbox-ids.ts';
import { errorOf } from './support/stderr-lines.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

let world: World;
beforeEach(async () => {
  world = await createWorld({
    handler: () => ({ status: 404, body: { statusCode: 404, message: 'no', error: 'Not Found' } }),
  });
});

describe('a mistyped command line', () => {
  test.each([
    [['instanzes'], "error: unknown command 'instanzes'\nhint: did you mean instances?\n"],
    [
      ['nonsense'],
      `error: unknown command 'nonsense'\nhint: "gpucloud --help" lists the commands\n`,
    ],
    [
      ['nonsense', '--help'],
      `error: unknown command 'nonsense'\nhint: "gpucloud --help" lists the commands\n`,
    ],
    // After `--` no word is a flag, so the error is not JSON.
    [
      ['--', '--json'],
      `error: unknown command '--json'\nhint: "gpucloud --help" lists the commands\n`,
    ],
    [
      ['--', '--profile', 'x'],
      `error: unknown command '--profile'\nhint: "gpucloud --help" lists the commands\n`,
    ],
    [
      ['--help', 'nonsense'],
      `error: unknown command 'nonsense'\nhint: "gpucloud --help" lists the commands\n`,
    ],
    [['instanzes', '-h'], "error: unknown command 'instanzes'\nhint: did you mean instances?\n"],
    [
      ['instances', 'nonsense', '--help'],
      `error: unknown command 'nonsense'\nhint: "gpucloud instances --help" lists the commands\n`,
    ],
    [
      ['instances', 'lst', '--wait', '-h'],
      "error: unknown command 'lst'\nhint: did you mean one of list, ls?\n",
    ],
    [['instances', 'lst'], "error: unknown command 'lst'\nhint: did you mean one of list, ls?\n"],
    [
      ['instances', 'list', '--out=secret'],
      "error: unknown option '--out'\nhint: did you mean --output?\n",
    ],
    [
      ['help', 'promo'],
      'error: unknown command \'promo\'\nhint: use "gpucloud billing promo CODE"\n',
    ],
    [
      ['help', 'untrack'],
      'error: unknown command \'untrack\'\nhint: did you mean "instances untrack"?\n',
    ],
    [
      ['instances', 'create', '--terminate', '4h'],
      "error: unknown option '--terminate'\nhint: did you mean --terminate-after or --terminate-at?\n",
    ],
    [['instances', 'list', '--jsn'], "error: unknown option '--jsn'\nhint: did you mean --json?\n"],
    [
      ['drives', 'update'],
      'error: missing argument: drive\nhint: usage: gpucloud drives update <drive>\n',
    ],
    [
      ['drives', 'update', ID, 'more'],
      `error: too many arguments: "more"\nhint: a value with a space needs quotes: '${ID} more'\n`,
    ],
    [
      ['instances', 'list', '-o', 'xml'],
      'error: --output "xml": must be one of table, json, jsonl, csv, tsv, yaml, id\n',
    ],
    ...[80, 81].map((letters): [string[], string] => [
      ['instances', 'list', '-o', 'x'.repeat(letters)],
      `error: --output "${'x'.repeat(80)}${letters > 80 ? '…' : ''}": must be one of table, json, jsonl, csv, tsv, yaml, id\n`,
    ]),
    [
      ['drives', 'list', 'svc_sk_'],
      'error: too many arguments: "svc_sk_"\nhint: usage: gpucloud drives list; for example: gpucloud drives list --columns name,size_gb,used_bytes --sort -size_gb\n',
    ],
    [['instances', 'list', '--output'], "error: option '-o, --output <format>' argument missing\n"],
    [
      ['instances', 'list', '-o', 'csv', '-q'],
      'error: --output, --json and --quiet select different formats: csv and id\n',
    ],
    [
      ['instances', 'list', '--columns', 'a,,b'],
      'error: --columns "a,,b": must be a comma-separated list without empty items\n',
    ],
    [
      ['instances', 'list', '--timeout', 'soon'],
      'error: --timeout "soon": must be whole numbers with units, such as 500ms, 30s, 15m, 1h30m or 3d\n',
    ],
    [
      ['instances', 'list', '--color', 'red'],
      'error: --color "red": must be one of auto, always, never\n',
    ],
    [
      ['instances', 'reboot', ID],
      'error: instances reboot: the API does not support this\nhint: use "gpucloud instances stop NAME --wait", then "gpucloud instances start NAME"\n',
    ],
    ...[['offers'], ['offers', 'list', '--limit', '3'], ['images', 'get', 'x', '--help']].map(
      (argv): [string[], string] => [
        argv,
        `error: ${argv[0]}: the API does not support this\nhint: use "gpucloud catalog list" for known offers and images, or "gpucloud sandbox catalog" for the sandbox\n`,
      ],
    ),
    [
      ['help', 'nothing'],
      'error: unknown command \'nothing\'\nhint: "gpucloud --help" lists the commands; the topics are options, exit-codes, environment, output, scripting, deadlines\n',
    ],
  ])('prints an error and a hint for a mistyped command: %j', async (argv, stderr) => {
    expect(await world.cli(argv)).toEqual({ code: 2, stdout: '', stderr, requests: [] });
  });

  test('prints the unknown command without control characters', async () => {
    const { stderr } = await world.cli(['help', '\u001b]0;title\u0007no\u202ething']);
    expect(stderr).toContain("unknown command 'nothing'");
    expect(stderr).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  test('prints one JSON error in every JSON mode', async () => {
    const asked = [
      { argv: ['instances', 'lst', '--json'] },
      { argv: ['--json', 'instances', 'lst'] },
      { argv: ['instances', 'list', '-o', 'json', '--nope'] },
      { argv: ['instances', 'list', '--output=jsonl', '--nope'] },
      { argv: ['-ojson', 'instances', 'lst', '-o', 'csv'] },
      { argv: ['instances', 'list', '-qojsonl', '--nope'] },
      { argv: ['instances', 'lst'], env: { GPUCLOUD_OUTPUT: 'json' } },
    ];
    for (const { argv, env } of asked) {
      const { code, stdout, stderr } = await world.cli(argv, env === undefined ? {} : { env });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(errorOf(stderr)).toMatchObject({
        code: 'usage',
        http_status: null,
        may_be_billing: false,
        retryable: false,
        resource: null,
      });
    }
    await world.cli(['instances', 'get', '--', '--json', 'x']);
  });

  test.each([
    [['instances', 'svc_sk_live_secret']],
    [['svc_sk_live_secret']],
    [['instances', 'get', '-----BEGIN PRIVATE KEY-----\nlive_secret\n-----END PRIVATE KEY-----']],
    [['instances', 'list', '--api-key=hunter2-svc']],
    [['drives', 'create', 'svc_sk_live_secret', '--size', '1']],
    [['me', 'update', '--name', 'svc_sk_live_secret']],
    [['me', 'update', '--name=svc_sk_live_secret']],
    [['billing', 'promo', 'svc_sk_live_secret']],
    [['instances', 'get', 'svc_sk_live_secret']],
    [['instances', 'create', 'box', '--offer', 'svc_sk_live_secret', '--image', 'x']],
    [
      [
        ...['instances', 'create', 'box', ...HARDWARE, '--docker-image', 'i'],
        ...['-e', 'K=svc_sk_live_secret'],
      ],
    ],
    [['ssh-keys', 'get', 'svc_sk_live_secret']],
    [['instances', 'list', '--base-url', 'https://me:hunter2@api.example.com']],
    [['instances', 'list', '--base-url', 'https://api.example.com/?token=hunter2']],
  ])('exits with 2 without printing the secret: %j', async (argv) => {
    const { code, stdout, stderr, requests } = await world.cli(argv);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stdout + stderr).not.toMatch(/live_secret|hunter2/);
  });
});

describe('global flags', () => {
  test.each([
    [['--json', 'instances', 'list']],
    [['instances', '--json', 'list']],
    [['instances', 'list', '--json']],
  ])('accepts --json in any position: %j', async (argv) => {
    const empty = await createWorld({ handler: () => ({ status: 200, body: { data: [] } }) });
    expect(await empty.cli(argv)).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
  });

  test('reads --json as the value of --docker-command', async () => {
    const flags = '--docker-image x --docker-command --json --dry-run --show-secrets'.split(' ');
    const { code, stdout } = await world.cli(['instances', 'create', 'box', ...HARDWARE, ...flags]);
    expect(code).toBe(0);
    expect(stdout).toContain('"run_command":"--json"');
  });

  test('reads a value of --wait only after =', async () => {
    const argv = [
      ...['instances', 'create', '--wait', 'box', '--offer', 'o', '--image', 'i', '--no-ssh-key'],
      ...['--dry-run', '--json'],
    ];
    const { code, stdout } = await world.cli(argv);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).request.instance_name).toBe('box');
  });

  test('uses GPUCLOUD_OUTPUT unless -o overrides it', async () => {
    const env = { GPUCLOUD_OUTPUT: 'json' };
    const empty = await createWorld({ handler: () => ({ status: 200, body: { data: [] } }) });
    expect((await empty.cli(['instances', 'list'], { env })).stdout).toBe('[]\n');
    expect((await empty.cli(['instances', 'list', '-o', 'table'], { env })).stdout).toBe('');
    expect((await empty.cli(['instances', 'list'], { env: { GPUCLOUD_OUTPUT: 'xml' } })).code).toBe(
      2,
    );
  });

  test.each([
    ['csv', '[].{id: id, size: size_gb}', 'id,size\nd1,5\n'],
    ['csv', '[0]', 'id,size_gb,name\nd1,5,\n'],
    ['csv', '[].id', 'd1\n'],
    ['csv', '[].[id, size_gb]', 'd1,5\n'],
    ['csv', '[].{all: [id, size_gb]}', 'all\n"[""d1"",5]"\n'],
    ['csv', 'length(@)', '1\n'],
    ['table', '[].id', '[\n  "d1"\n]\n'],
    ['id', '[].id', '[\n  "d1"\n]\n'],
    ['tsv', '[].id', 'd1\n'],
  ])(
    'applies GPUCLOUD_OUTPUT=%s to --query %s only if the result fits',
    async (format, query, expected) => {
      const data = [{ id: 'd1', size_gb: 5, name: null }];
      const one = await createWorld({ handler: () => ({ status: 200, body: { data } }) });
      const list = ['drives', 'list', '--query', query];
      const { code, stdout } = await one.cli(list, { env: { GPUCLOUD_OUTPUT: format } });
      expect({ code, stdout }).toEqual({ code: 0, stdout: expected });
      const flag = await one.cli([...list, '-o', format]);
      const holdsAll = ['csv', 'tsv'].includes(format);
      expect(flag).toMatchObject(
        holdsAll ? { code: 0, stdout: expected } : { code: 2, stdout: '' },
      );
    },
  );

  test.each(['json', 'csv', 'id'])(
    'ignores GPUCLOUD_OUTPUT=%s for scripts and texts',
    async (format) => {
      const env = { GPUCLOUD_OUTPUT: format };
      const script = await world.cli(['completion', 'bash'], { env });
      expect(script.stdout).toBe((await world.cli(['completion', 'bash'])).stdout);
      const readme = ['--profile', 'sandbox', 'templates', 'get', 'comfyui', '--markdown'];
      expect((await world.cli(readme, { env })).stdout).toBe((await world.cli(readme)).stdout);
    },
  );

  test('prints requests and responses but never the key with --debug', async () => {
    const { code, stderr } = await world.cli(['instances', 'get', ID, '--debug']);
    expect(code).toBe(3);
    expect(stderr).toContain(`GET ${world.service.url}/instances/${ID}`);
    expect(stderr).not.toContain(world.env.GPUCLOUD_API_KEY);
  });
});

describe('an error in a terminal', () => {
  const person = { terminal: true, columns: 40 };

  test('prints a red label for an error in a terminal, and wraps between words', async () => {
    const { stderr } = await world.cli(['instances', 'ps'], person);
    expect(stderr).toBe(
      "\u001b[1;31merror:\u001b[22;39m unknown command 'instances ps'\n" +
        'hint: use "gpucloud instances list"\n',
    );
  });

  test.each([
    ['--no-color', 'instances', 'list', '--jsn'],
    ['instances', 'list', '--no-color', '--columns', 'nothing'],
  ])('prints an error without colours with %j', async (...argv) => {
    expect((await world.cli(argv, person)).stderr).toMatch(/^error: /);
  });

  test('prints one line of JSON with --json', async () => {
    const { stderr } = await world.cli(['instances', 'ps', '--json'], person);
    expect(JSON.parse(stderr).error.message).toBe("unknown command 'instances ps'");
  });
});

describe('help', () => {
  test("lists the program's groups under their headings", async () => {
    const help = await world.cli(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '', requests: [] });
    expect((await world.cli(['help'])).stdout).toBe(help.stdout);
  });

  test('prints the same page for a group or verb in three ways', async () => {
    const group = await world.cli(['instances']);
    expect(group).toMatchObject({ code: 0, stderr: '' });
    expect((await world.cli(['instances', '--help'])).stdout).toBe(group.stdout);
    expect((await world.cli(['instance', '-h'])).stdout).toBe(group.stdout);
    const verb = await world.cli(['instances', 'create', '--help']);
    expect((await world.cli(['help', 'instances', 'create'])).stdout).toBe(verb.stdout);
  });
});

describe('`-o=json`', () => {
  test.each([
    '-o=json --profile sandbox profiles list',
    'profiles --profile sandbox -o=json list',
    'profiles list -o=json',
    'profiles list -o json',
    'profiles list -yo=json',
  ])('selects JSON output for -o=json in %j', async (line) => {
    const { code, stdout } = await world.cli(line.split(' '));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toBeInstanceOf(Array);
  });

  test('selects JSON output after an argument that ends like a flag', async () => {
    const { code, stderr } = await world.cli(['profiles', 'get', 'xo', '-o=json']);
    expect(code).toBe(3);
    expect(JSON.parse(stderr).error.code).toBe('not_found');
  });

  test.each([
    // Covers a flag's value, a value after switches, a double =, and an argument after --.
    [['profiles', 'add', 'work', '--base-url', '-o=json'], /--base-url .{0,2}"-o=json/],
    [['instances', 'create', 'trainer', '-ye', '-o=json', '--offer', 'x'], /missing --image/],
    [['profiles', 'list', '-o==json'], /^error: --output "=json"/],
    [['profiles', 'list', '--', '-o=json'], /too many arguments/],
  ])('exits with 2 for -o in %j', async (argv, told) => {
    const { code, stderr } = await world.cli(argv);
    expect(code).toBe(2);
    expect(stderr).toMatch(told);
  });
});

describe('a group without a verb', () => {
  test.each([
    [['instances', '--json'], {}, /^instances: a verb is missing: list, get, create, /],
    [['--json', 'drives'], {}, /^drives: a verb is missing: list, get, create, update, resume$/],
    [['billing', '-ojsonl'], {}, /^billing: a verb is missing: /],
    [['billing', '-o=json'], {}, /^billing: a verb is missing: /],
    [['templates'], { GPUCLOUD_OUTPUT: 'json' }, /^templates: a verb is missing: list, get$/],
    [['--json'], {}, /^gpucloud: a command is missing: login, sandbox, /],
  ])('exits with 2 and a JSON error: %j with %j', async (argv, env, message) => {
    const { code, stdout, stderr, requests } = await world.cli(argv, { env });
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(errorOf(stderr)).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
    });
  });

  test("prints a group's help in every other format", async () => {
    for (const argv of [['instances'], ['instances', '-o', 'csv'], ['-q', 'instances']]) {
      const { code, stdout, stderr } = await world.cli(argv);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: gpucloud instances\|instance /);
    }
  });

  test("prints a verb's help with --help before the command", async () => {
    const { code, stdout } = await world.cli(['--help', 'instances', 'list']);
    expect(code).toBe(0);
    expect(stdout).toBe((await world.cli(['instances', 'list', '--help'])).stdout);
  });
});

describe('the rouble sign', () => {
  test.each([
    [{ LC_ALL: 'C' }, 'RUB'],
    [{ LANG: 'POSIX' }, 'RUB'],
    [{ LC_ALL: '', LC_CTYPE: 'ru_RU.KOI8-R', LANG: 'C.UTF-8' }, 'RUB'],
    [{ LC_ALL: 'C.UTF-8', LANG: 'C' }, '₽'],
    [{}, '₽'],
  ])('prints the rouble sign with %j as %s', async (locale, sign) => {
    const other = sign === 'RUB' ? '₽' : 'RUB';
    const env = { LC_ALL: undefined, LC_CTYPE: undefined, LANG: undefined, ...locale };
    const cli = async (...argv: string[]) => {
      const { stdout, stderr } = await world.cli(['--profile', 'sandbox', ...argv], {
        env: { ...env, GPUCLOUD_BASE_URL: undefined, GPUCLOUD_API_KEY: undefined },
        terminal: true,
      });
      return stdout + stderr;
    };
    await cli('instances', 'create', 'priced', ...HARDWARE, '--yes');
    for (const argv of [['instances', 'list'], ['instances', 'get', 'priced'], ['status']]) {
      const shown = await cli(...argv);
      expect(shown).toContain(` ${sign}`);
      expect(shown.replace(/RUB per hour/g, '')).not.toContain(` ${other}`);
    }
    expect(await cli('sandbox', 'deposit', '5')).toContain(`Deposited 5.00 ${sign} of play money.`);
  });
});

describe('-q', () => {
  test('prints with -q the ID and no notes, unlike -o id', async () => {
    const create = ['--profile', 'sandbox', 'instances', 'create'];
    const env = { GPUCLOUD_BASE_URL: undefined, GPUCLOUD_API_KEY: undefined };
    const quiet = await world.cli([...create, 'quiet', ...OFFERED, '-q'], { env });
    expect(`${quiet.code} ${quiet.stderr}`).toMatch(/^0 warning: No SSH.*\n$/);
    expect(quiet.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    await world.cli([...create, 'ids', ...HARDWARE, '-o', 'id'], { env });
  });
});

describe('--profile sandbox with an address or a key in the environment', () => {
  const list = ['--profile', 'sandbox', 'drives', 'list'];

  test('prints a one-line warning for --profile sandbox with an address or key in the environment', async () => {
    const { code, requests } = await world.cli(list);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    await world.cli([...list, '--json'], { env: { GPUCLOUD_BASE_URL: undefined } });
    const catalog = await world.cli(['--profile', 'sandbox', 'catalog', 'list']);
    expect(catalog.stderr.match(/Ignoring/g)).toHaveLength(1);
  });

  test('omits the warning for sandbox commands or without these variables', async () => {
    const status = await world.cli(['--profile', 'sandbox', 'sandbox', 'status']);
    expect(status).toMatchObject({ code: 0, stderr: '' });
    const env = { GPUCLOUD_BASE_URL: undefined, GPUCLOUD_API_KEY: undefined };
    await world.cli(list, { env });
  });
});
