import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { width } from '../../src/output/width.ts';
import { KEYS, type Person, type PersonOptions, sitDown } from '../support/person.ts';
import { type Computer, createComputer } from '../support/program.ts';
import { sshPublicKey } from '../support/ssh-key.ts';

const { enter, down, up, space, tab, ctrlC, ctrlD, clearLine } = KEYS;
const ED25519 = sshPublicKey('ssh-ed25519');
const ENV = { GPUCLOUD_PROFILE: 'sandbox' };
const SANDBOX = { env: ENV };

let computer: Computer;
let people: Person[];
beforeEach(async () => {
  computer = await createComputer();
  people = [];
});
afterEach(async () => {
  for (const person of people) await person.close();
  await computer.remove();
});

/** The folders of an account with a key and a drive, made once and copied for each test. */
let account: Computer;
beforeAll(async () => {
  account = await createComputer();
  await addKey('laptop', '--default');
  await run(account, 'drives', 'create', 'data', '--size', '500');
});
afterAll(() => account.remove());

async function prepared(): Promise<void> {
  for (const folder of ['config', 'state']) {
    await cp(join(account.home, folder), join(computer.home, folder), { recursive: true }).catch(
      () => undefined,
    );
  }
}

function person(argv: readonly string[], options: PersonOptions = {}): Person {
  const one = sitDown(computer, argv, { ...options, env: { ...ENV, ...options.env } });
  people.push(one);
  return one;
}

async function run(on: Computer, ...argv: string[]) {
  const outcome = await on.gpucloud(argv, SANDBOX);
  expect(outcome, argv.join(' ')).toMatchObject({ code: 0 });
  return outcome.stdout;
}

async function addKey(name: string, ...more: string[]): Promise<void> {
  const file = join(account.home, `${name}.pub`);
  await writeFile(file, `${ED25519} ${name}\n`);
  await run(account, 'ssh-keys', 'add', file, '--name', name, ...more);
}

/** What the journal and the sandbox hold of machines. */
async function machines(): Promise<{ name: string; status: string }[]> {
  return JSON.parse(await run(computer, 'instances', 'list', '--all', '--json'));
}

/** The records of the journal: `settled/…json` of the drive. */
async function journal({ home }: Computer): Promise<string[]> {
  const names = await readdir(join(home, 'state'), { recursive: true });
  return names.filter((name) => /journal\/.*(requests|instances)\/.*\.json$/.test(name)).sort();
}

async function expectNothingSent(one: Person): Promise<void> {
  expect(await one.ended()).toBe(130);
  expect(one.screen()).toContain('Nothing was sent, so nothing was rented and nothing is billing.');
  expect(await journal(computer)).toEqual(await journal(account));
  const { instances } = JSON.parse(await run(computer, 'sandbox', 'status', '--json'));
  expect(instances).toEqual([]);
}

/** The questions of a whole rental, in their order, with an answer to each. */
const QUESTIONS: readonly (readonly [RegExp, string])[] = [
  [/\? Name of the machine \(.+\) *$/m, `box-one${enter}`],
  [/\? Offer \(the hardware\)[\s\S]*select/, enter],
  [/\? Base image \(the system\)[\s\S]*select/, enter],
  [/\? SSH keys[\s\S]*submit/, enter],
  [/\? What runs on it[\s\S]*select/, `${down}${enter}`],
  [/\? Cloud drive[\s\S]*select/, `${down}${enter}`],
  [/\? Rent it\?[\s\S]*select/, enter],
];

describe('instances create without anything', () => {
  test('asks for all of it, shows it, rents it, waits and says how to connect and to stop paying', async () => {
    await prepared();
    const one = person(['instances', 'create', '--poll-interval', '500ms']);
    for (const [question, answer] of QUESTIONS) await one.answers(question, answer);
    expect(await one.ended()).toBe(0);
    const screen = one.screen();
    expect(screen).toContain(
      [
        '✔ Name of the machine box-one',
        '✔ Offer (the hardware) RTX 4090',
        '✔ Base image (the system) Ubuntu 22.04',
        '✔ SSH keys laptop',
        '✔ What runs on it JupyterLab',
        '✔ Cloud drive data',
        '',
        'To be rented, and billed from then on:',
        '  Name      box-one',
        '  Offer     RTX 4090, ru-1',
        '  Image     Ubuntu 22.04, CUDA 12.4',
        '  SSH keys  laptop',
        '  Runs      the template JupyterLab',
        '  Drive     data',
        "  Price     89.90 RUB an hour, of the sandbox's play money",
        '  Balance   10500.00 RUB',
        '',
        'The same without questions:',
        '  gpucloud instances create box-one --offer rtx-4090 --image ubuntu-22-04 --ssh-key laptop --template jupyterlab --drive data --wait',
        '',
        '✔ Rent it? Yes, rent it now',
      ].join('\n'),
    );
    expect(screen).toMatch(
      /Connect: +gpucloud instances ssh box-one\nStop paying: gpucloud instances terminate box-one$/,
    );
    expect(await machines()).toMatchObject([{ name: 'box-one', status: 'ACTIVE' }]);
  });

  test('the command that it shows asks for the same, word for word', async () => {
    await prepared();
    await writeFile(join(computer.home, 'env.txt'), 'A=1\n');
    const flags = [
      '--docker-command',
      "sh -c 'echo $X'",
      '--env-file',
      'env.txt',
      '-p',
      '53:53/udp,name=dns,main',
    ];
    const one = person(['instances', 'create', '--dry-run', '-o', 'json', ...flags], {
      columns: 200,
    });
    await one.answers(/\? Name/, `box-one${enter}`);
    await one.answers(/\? Offer[\s\S]*select/, enter);
    await one.answers(/\? Base image[\s\S]*select/, enter);
    await one.answers(/\? SSH keys[\s\S]*submit/, enter);
    await one.answers(/\? Image of the container *$/m, `nginx:1${enter}`);
    await one.answers(/\? Cloud drive[\s\S]*select/, enter);
    expect(await one.ended()).toBe(0);
    expect(one.screen()).toContain('This would be rented:');
    const line = /^ {2}(gpucloud .*)$/m.exec(one.screen())?.[1] ?? '';
    expect(line).toBe(
      "gpucloud instances create box-one --offer rtx-4090 --image ubuntu-22-04 --ssh-key laptop --docker-image nginx:1 --docker-command 'sh -c '\\''echo $X'\\''' --port 53:53/udp,name=dns,main --env-file env.txt --wait",
    );
    const asked = JSON.parse(one.screen().slice(one.screen().indexOf('\n{')));
    const again = await computer.bash(`${line} --dry-run --json`, SANDBOX);
    expect(JSON.parse(again.stdout)).toEqual(asked);
  });

  test('asks for what is missing only, and for a container with all its parts', async () => {
    const one = person([
      'instances',
      'create',
      'box-one',
      '--offer',
      'rtx-4090',
      '--dry-run',
      '--json',
    ]);
    await one.answers(/\? Base image[\s\S]*select/, enter);
    await one.answers(/\? Go on without a key\? \(y\/N\) *$/m, `y${enter}`);
    await one.answers(
      /\? What runs on it[\s\S]*select/,
      `${up.repeat(5)}${down.repeat(5)}${enter}`,
    );
    await one.answers(/\? Image of the container *$/m, `nginx${enter}`);
    await one.answers(/\? Command \(Enter: its own\) *$/m, enter);
    await one.answers(/\? Ports, .* *$/m, `80${enter}`);
    await one.answers(
      'a port is written EXTERNAL:INTERNAL',
      `${clearLine}8080:80 53:53/udp${enter}`,
    );
    await one.answers(/\? Variable \(Enter: none\) *$/m, `TOKEN${enter}`);
    await one.answers(/\? Value of TOKEN/, `s3cret words${enter}`);
    await one.answers(/\? One more .* *$/m, enter);
    await one.answers(/\? Volumes, .* *$/m, enter);
    await one.answers(/\? Shared memory .* *$/m, `0.5${enter}`);
    expect(await one.ended()).toBe(0);
    const screen = one.screen();
    expect(screen).not.toContain('Name of the machine');
    expect(screen).not.toContain('s3cret');
    expect(screen.replaceAll('\n', '')).toContain(
      'gpucloud instances create box-one --offer rtx-4090 --image ubuntu-22-04 --docker-image nginx --shm-size 0.5 --port 8080:80 --port 53:53/udp --env TOKEN --wait',
    );
    expect(screen).toContain('with TOKEN in the environment: values are not repeated here');
    expect(JSON.parse(screen.slice(screen.indexOf('\n{')))).toMatchObject({
      docker_config: {
        image: 'nginx',
        shm_size_gb: 0.5,
        env: [{ key: 'TOKEN', value: '********' }],
      },
    });
  });

  test('refuses a name at Enter with its rule, and keeps what was typed', async () => {
    const one = person(['instances', 'create']);
    await one.answers(/\? Name/, `a${enter}`);
    await one.reads(/ a\n> an instance name is 3 to 50 characters long$/);
    await one.type(`${clearLine}9ab${enter}`);
    await one.reads(/ 9ab\n> an instance name starts with a letter$/);
    await one.type(`${clearLine}a-box${enter}`);
    await one.reads(/✔ Name of the machine a-box\n/);
  });

  test('takes the offered name with Tab', async () => {
    const one = person(['instances', 'create']);
    await one.answers(/\? Name of the machine \(\w+-\w+\)$/m, tab);
    await one.reads(/\? Name of the machine \w+-\w+$/);
    await one.type(enter);
    await one.reads(/✔ Name of the machine \w+-\w+\n/);
  });

  test('refuses the name of a known machine', async () => {
    await run(
      computer,
      'instances',
      'create',
      'taken',
      '--offer',
      'rtx-4090',
      '--image',
      'ubuntu-22-04',
    );
    const one = person(['instances', 'create']);
    await one.answers(/\? Name/, `taken${enter}`);
    await one.reads('a machine of that name is known here, and names are unique');
  });

  test('an answer can be changed before the end, and leaving there sends nothing', async () => {
    await prepared();
    const one = person(['instances', 'create']);
    for (const [question, answer] of QUESTIONS.slice(0, -1)) await one.answers(question, answer);
    await one.answers(/\? Rent it\?[\s\S]*select/, `${down}${enter}`);
    await one.answers(/\? Change what\?[\s\S]*select/, `${down.repeat(4)}${enter}`);
    // The template that was chosen before is where the choice starts.
    await one.reads(/❯ JupyterLab/);
    await one.type(`${up}${enter}`);
    await one.reads(/Runs {6}only the base image[\s\S]*--ssh-key laptop --drive data --wait\n/);
    await one.reads(/Runs {6}only the base image[\s\S]*\? Rent it\?[\s\S]*select/);
    await one.type(`${down}${down}${enter}`);
    await expectNothingSent(one);
  });

  test('a no of the service says that nothing was rented, and how to go on', async () => {
    const one = person(['instances', 'create', 'box-one', '--image', 'ubuntu-22-04']);
    await one.answers(/ {2}RTX 3090 .*out of stock[\s\S]*select/, `${up}${down.repeat(4)}${enter}`);
    await one.answers(/\? Go on without a key/, `y${enter}`);
    await one.answers(/\? What runs on it[\s\S]*select/, enter);
    await one.answers(/\? Rent it\?[\s\S]*select/, enter);
    expect(await one.ended()).toBe(5);
    expect(one.screen()).toMatch(
      /out of stock\. Nothing was rented\.\nhint: change what was refused/,
    );
    expect(await machines()).toEqual([]);
  });

  describe.each([
    ['Ctrl-C', ctrlC],
    ['Ctrl-D', ctrlD],
  ])('%s', (_name, key) => {
    test.each(QUESTIONS.map(([question], at) => [String(question), at] as const))(
      'at %s sends nothing, and keeps nothing',
      async (_question, at) => {
        await prepared();
        const one = person(['instances', 'create']);
        for (const [question, answer] of QUESTIONS.slice(0, at))
          await one.answers(question, answer);
        await one.answers(QUESTIONS[at]?.[0] ?? /never/, key);
        await expectNothingSent(one);
      },
    );
  });

  test('a value that is typed with its variable does not stay on the screen', async () => {
    const flags = ['--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--dry-run'];
    const one = person(['instances', 'create', ...flags]);
    await one.answers(/\? Name of the machine/, `box-one${enter}`);
    await one.answers(/\? Go on without a key/, `y${enter}`);
    await one.answers(/\? What runs on it[\s\S]*select/, `${down.repeat(9)}${enter}`);
    await one.answers(/\? Image of the container *$/m, `nginx:1${enter}`);
    await one.answers(/\? Command/, enter);
    await one.answers(/\? Ports/, enter);
    await one.answers(/\? Variable/, `TOKEN=a-secret${enter}`);
    await one.reads(/\? One more/);
    expect(one.screen()).toContain('✔ Variable (Enter: none) TOKEN=********');
    expect(one.screen()).not.toContain('a-secret');
  });

  describe('within the questions of a container', () => {
    const PARTS: readonly (readonly [RegExp, string])[] = [
      [/\? Image of the container *$/m, `nginx:1${enter}`],
      [/\? Command \(Enter: its own\) *$/m, enter],
      [/\? Ports, .*\(Enter: none\) *$/m, `8080:80${enter}`],
      [/\? Variable \(Enter: none\) *$/m, `TOKEN${enter}`],
      [/\? Value of TOKEN/, `a-secret${enter}`],
      [/\? One more \(Enter: no more\) *$/m, enter],
      [/\? Volumes, .*\(Enter: none\) *$/m, enter],
      [/\? Shared memory .*\(Enter: usual\) *$/m, enter],
    ];

    test.each(
      PARTS.flatMap(([question], at) => [
        ['Ctrl-C', String(question), at, ctrlC] as const,
        ['Ctrl-D', String(question), at, ctrlD] as const,
      ]),
    )('%s at %s sends nothing, and keeps nothing', async (_name, _question, at, key) => {
      await prepared();
      const flags = ['--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--ssh-key', 'laptop'];
      const one = person(['instances', 'create', ...flags]);
      await one.answers(/\? Name of the machine/, `box-one${enter}`);
      await one.answers(
        /\? What runs on it[\s\S]*select/,
        `${up.repeat(9)}${down.repeat(9)}${enter}`,
      );
      for (const [question, answer] of PARTS.slice(0, at)) await one.answers(question, answer);
      await one.answers(PARTS[at]?.[0] ?? /never/, key);
      await expectNothingSent(one);
      expect(one.written()).not.toContain('a-secret');
    });
  });

  test('long lists are searched, and an id can be given in their place', async () => {
    const names = Array.from({ length: 14 }, (_, at) => ({
      service: 'sandbox',
      kind: 'offer',
      id: `offer-${at}`,
      given_name: `Карта ${at} 显卡 ${'длинное имя '.repeat(6)}`,
    }));
    await mkdir(join(computer.home, 'state'), { mode: 0o700 });
    await writeFile(
      join(computer.home, 'state', 'catalog.json'),
      JSON.stringify({ version: 1, names }),
    );
    const one = person([
      'instances',
      'create',
      'box-one',
      '--image',
      'ubuntu-22-04',
      '--dry-run',
      '-q',
    ]);
    await one.reads(/\? Offer[\s\S]*Карта 13[\s\S]*select/);
    const rows = one.lines().slice(1, 11);
    // Ten rows, none broken, and the columns under each other in cells of the terminal.
    expect(rows.filter((row) => !/^(❯| ) \S/.test(row))).toEqual([]);
    await one.type('显卡');
    await one.reads(/\? Offer \(the hardware\) 显卡\n❯ Карта/);
    const columns = one
      .lines()
      .filter((row) => row.includes('price unknown'))
      .map((row) => width(row.slice(0, row.indexOf('price unknown'))));
    expect(columns.length).toBeGreaterThan(5);
    expect(new Set(columns).size).toBe(1);
    expect(one.screen()).toContain('…');
    await one.type(`${clearLine}h100 sxm`);
    await one.reads(
      /\? Offer \(the hardware\) h100 sxm\n❯ 8x H100 80GB SXM5 +2359\.60 RUB\/h.*\n {2}Another, by its id/,
    );
    await one.type(`${clearLine}zzz`);
    await one.reads(/❯ Another, by its id/);
    await one.type(enter);
    await one.answers(/\? Id of the offer *$/m, `../x${enter}`);
    await one.answers('an id holds letters', `${clearLine}offer-99${enter}`);
    await one.reads(/✔ Id of the offer offer-99/);
  });
});

describe('every width', () => {
  test.each([40, 60, 80, 120, 200])('%i columns', async (columns) => {
    await prepared();
    const one = person(['instances', 'create', '--dry-run', '--json'], { columns });
    for (const [question, answer] of QUESTIONS.slice(0, -1)) {
      const screen = await one.reads(question);
      const from = screen.lastIndexOf('\n? ') + 1;
      // A question, its choices and its help have a line each: none is broken.
      for (const line of screen.slice(from).split('\n')) {
        expect(line).toMatch(/^(\? |❯| {2}|↑↓|$)|^[ ❯]*[◉◯]/);
      }
      await one.type(answer);
    }
    expect(await one.ended()).toBe(0);
    expect(one.screen()).toContain('✔ Cloud drive data');
  });
});

describe('a low window', () => {
  async function longList(): Promise<void> {
    const names = Array.from({ length: 14 }, (_, at) => ({
      service: 'sandbox',
      kind: 'offer',
      id: `offer-${at}`,
      given_name: `card ${at}`,
    }));
    await mkdir(join(computer.home, 'state'), { mode: 0o700, recursive: true });
    const catalog = JSON.stringify({ version: 1, names });
    await writeFile(join(computer.home, 'state', 'catalog.json'), catalog);
  }

  const ASK = ['instances', 'create', 'box-one', '--image', 'ubuntu-22-04', '--dry-run', '-q'];

  test.each([6, 8, 12])('%i rows: the question stays whole, whatever is typed', async (rows) => {
    await longList();
    const one = person(ASK, { rows });
    await one.reads(/\? Offer[\s\S]*type to search · ↑↓ navigate · ⏎ select/);
    await one.type(`${down}${down}${down}${up}`);
    const screen = await one.reads(/^❯ /m);
    expect(screen.match(/\? Offer/g)).toHaveLength(1);
    expect(screen.match(/^❯ /gm)).toHaveLength(1);
    await one.type('card 13');
    await one.answers(/^❯ card 13/m, enter);
    await one.reads(/✔ Offer \(the hardware\) card 13\n/);
    expect(one.screen().match(/Offer/g)).toHaveLength(1);
  });
});

describe('no colour, and colours that can be read', () => {
  test.each([
    ['NO_COLOR', { NO_COLOR: '1' }, []],
    ['--no-color', {}, ['--no-color']],
  ])('%s: no colour at all', async (_name, env, flags) => {
    await prepared();
    const one = person(['instances', 'create', '--dry-run', ...flags], { env });
    for (const [question, answer] of QUESTIONS.slice(0, -1)) await one.answers(question, answer);
    expect(await one.ended()).toBe(0);
    expect(one.written()).not.toMatch(/\u001b\[[0-9;]*m/);
  });

  test('none of the colours that a terminal may make unreadable on white or on black', async () => {
    await prepared();
    const one = person(['instances', 'create', '--dry-run']);
    for (const [question, answer] of QUESTIONS.slice(0, -1)) await one.answers(question, answer);
    expect(await one.ended()).toBe(0);
    const used = new Set(one.written().match(/\u001b\[[0-9;]*m/g));
    const allowed = ['0', '1', '2', '22', '39', '38;5;28', '38;5;30', '38;5;130', '38;5;160'];
    expect([...used].filter((code) => !allowed.includes(code.slice(2, -1)))).toEqual([]);
    expect(used.size).toBeGreaterThan(2);
  });
});

describe('TERM=dumb: plain lines', () => {
  const DUMB = { env: { TERM: 'dumb' } };

  test('the same questions, numbered, with nothing drawn again', async () => {
    await prepared();
    const one = person(['instances', 'create', '--poll-interval', '500ms'], DUMB);
    await one.answers(/Name of the machine \[.+\] *$/m, `9ab${enter}`);
    await one.reads('an instance name starts with a letter');
    await one.type(`box-one${enter}`);
    await one.answers(
      /Offer \(the hardware\)[\s\S]*Number, or a part of the name \[1\] *$/m,
      `h100${enter}`,
    );
    await one.answers(/3\. H100 80GB, 299.*\n {2}4\. 8x H100[\s\S]*\[1\] *$/, `rtx 4090${enter}`);
    await one.answers(/Base image[\s\S]*\[1\] *$/, enter);
    await one.answers(/SSH keys\n {2}1\. laptop[\s\S]*\[1\] *$/, `7${enter}`);
    await one.answers('7 is no number of the list', enter);
    await one.answers(/What runs on it[\s\S]*\[1\] *$/, `jupyter${enter}`);
    await one.answers(/Cloud drive[\s\S]*\[1\] *$/, `2${enter}`);
    await one.answers(/Rent it\?[\s\S]*\[1\] *$/, enter);
    expect(await one.ended()).toBe(0);
    // Not one control of the terminal: no colour, no cursor, no spinner.
    expect(one.written()).not.toContain('\u001b');
    expect(one.written()).not.toMatch(/\r(?!\n)/);
    expect(one.screen()).toContain('Stop paying: gpucloud instances terminate box-one');
    expect(await machines()).toMatchObject([{ name: 'box-one', status: 'ACTIVE' }]);
  });

  test.each([
    ['Ctrl-C', ctrlC],
    ['Ctrl-D', ctrlD],
  ])('%s leaves with nothing sent', async (_name, key) => {
    await prepared();
    const one = person(['instances', 'create'], DUMB);
    await one.answers(/Name of the machine \[.+\] *$/m, enter);
    await one.answers(/Offer[\s\S]*\[1\] *$/, key);
    await expectNothingSent(one);
    expect(one.screen()).toMatch(/\nerror: /);
  });

  test('a secret is not shown', async () => {
    const one = person(['login', '--base-url', 'http://127.0.0.1:1'], {
      env: { TERM: 'dumb', GPUCLOUD_PROFILE: '' },
    });
    await one.answers(/API key for .* \(what you type is not shown\) *$/m, `svc_sk_x${enter}`);
    expect(await one.ended()).toBe(6);
    expect(one.written()).not.toContain('svc_sk_x');
  });
});

describe('where nobody can be asked', () => {
  test.each([
    ['stdin is no terminal', {}, []],
    ['--no-input', {}, ['--no-input']],
  ])('%s: all that is missing is named at once, and nothing is read', async (_why, env, flags) => {
    const outcome = await computer.gpucloud(['instances', 'create', ...flags], {
      env: { ...ENV, ...env },
    });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain('missing NAME (or --name), --offer, --image');
  });

  test('CI and --no-input in a terminal', async () => {
    for (const options of [{ env: { CI: '1' } }, { env: { GPUCLOUD_NO_INPUT: '1' } }]) {
      const one = person(['instances', 'terminate'], options);
      expect(await one.ended()).toBe(2);
      expect(one.screen()).toContain('INSTANCE is missing');
    }
  });
});

describe('the other verbs', () => {
  test('terminate offers the living machines, asks once more, and ends what was picked', async () => {
    for (const name of ['one', 'two', 'old']) {
      await run(
        computer,
        'instances',
        'create',
        name,
        '--offer',
        'rtx-4090',
        '--image',
        'ubuntu-22-04',
      );
    }
    await run(computer, 'instances', 'terminate', 'old', '-y');
    const one = person(['instances', 'terminate']);
    const screen = await one.reads(/\? Which machines end\?[\s\S]*submit/);
    expect(screen).not.toContain('old');
    expect(screen).toMatch(/◯ one {2}PROVISIONING {2}89\.90 RUB\/h {2}seen /);
    const second = /^ ◯ (\w+)/m.exec(screen)?.[1] ?? '';
    const first = second === 'one' ? 'two' : 'one';
    await one.type(enter);
    await one.answers('choose at least one', `${down}${space}${enter}`);
    await one.answers(new RegExp(`\\? .*${second}[\\s\\S]*\\(y/N\\)`), `y${enter}`);
    expect(await one.ended()).toBe(0);
    const statuses = Object.fromEntries(
      (await machines()).map(({ name, status }) => [name, status]),
    );
    expect(statuses[first]).not.toMatch(/TERMINAT/);
    expect(statuses[second]).toMatch(/TERMINAT/);
  });

  test('terminate with nothing to end says so', async () => {
    const one = person(['instances', 'terminate']);
    expect(await one.ended()).toBe(3);
    expect(one.screen()).toContain('No machine that is not terminated is known to this computer');
  });

  test('drives create', async () => {
    const one = person(['drives', 'create']);
    await one.answers(/\? Name of the drive\? *$/m, `данные 数据${enter}`);
    await one.answers(/\? Size .* *$/m, `5x${enter}`);
    await one.answers('a size is a whole number', `${clearLine}500GB${enter}`);
    await one.answers(
      /drives create '--name=данные 数据' --size 500GB[\s\S]*\(y\/N\)/,
      `y${enter}`,
    );
    expect(await one.ended()).toBe(0);
    expect(one.screen()).toContain('Created the drive данные 数据');
  });

  test.each([
    ['Ctrl-C', ctrlC],
    ['Ctrl-D', ctrlD],
  ])('drives create left by %s', async (_name, key) => {
    const one = person(['drives', 'create', 'data']);
    await one.answers(/\? Size .* *$/m, key);
    expect(await one.ended()).toBe(130);
    expect(one.screen()).toContain('Nothing was sent, so no drive was created.');
    expect(JSON.parse(await run(computer, 'drives', 'list', '--json'))).toEqual([]);
  });

  test('ssh-keys add offers the keys of this computer', async () => {
    await mkdir(join(computer.home, '.ssh'));
    await writeFile(join(computer.home, '.ssh', 'id_ed25519.pub'), `${ED25519} anna@laptop\n`);
    const one = person(['ssh-keys', 'add']);
    await one.answers(/\? Which key\?[\s\S]*❯ id_ed25519\.pub {2}anna@laptop[\s\S]*select/, enter);
    await one.answers(/\? Name \(anna@laptop\) *$/m, `laptop${enter}`);
    await one.answers(/\? Main key for new machines\? \(y\/N\) *$/m, `y${enter}`);
    expect(await one.ended()).toBe(0);
    expect(JSON.parse(await run(computer, 'ssh-keys', 'list', '--json'))).toMatchObject([
      { name: 'laptop', is_default: true },
    ]);
  });

  test('login asks for the address and the key, and again for a key that is refused', async () => {
    const server = computer.start(['sandbox', 'serve', '--port', '0', '--json']);
    try {
      const { url, api_key } = await new Promise<{ url: string; api_key: string }>((resolve) => {
        server.stdout.once('data', (chunk: Buffer) => resolve(JSON.parse(String(chunk))));
      });
      const one = person(['login'], { env: { GPUCLOUD_PROFILE: '' } });
      await one.answers(/\? Address of the service *$/m, `ftp://x${enter}`);
      await one.answers('a base URL starts with https://', `${clearLine}${url}${enter}`);
      await one.answers(/\? API key for /, `svc_sk_wrong${enter}`);
      await one.answers(/did not accept the API key[\s\S]*\? API key for /, `${api_key}${enter}`);
      expect(await one.ended()).toBe(0);
      expect(one.screen()).toContain('Signed in at');
      expect(one.written()).not.toContain('svc_sk_wrong');
      expect(one.written()).not.toContain(api_key);
      const config = await readFile(join(computer.home, 'config', 'config.json'), 'utf8');
      expect(config).not.toContain('svc_sk_wrong');
    } finally {
      const gone = once(server, 'close');
      server.kill('SIGTERM');
      await gone;
    }
  });
});
