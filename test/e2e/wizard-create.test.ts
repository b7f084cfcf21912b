import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { width } from '../../src/output/width.ts';
import { KEYS } from '../support/person.ts';
import {
  computer,
  expectNothingSent,
  machines,
  openTable,
  person,
  prepared,
  QUESTIONS,
  run,
  SANDBOX,
} from './wizard.ts';

const { enter, down, up, tab, ctrlC, ctrlD, clearLine } = KEYS;

openTable();

describe('instances create without arguments', () => {
  test('asks for everything, shows it, rents, waits, and says how to connect and to terminate', async () => {
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
        '  Price     89.90 ₽ per hour of sandbox play money',
        '  Balance   10500.00 ₽',
        '',
        'The same without questions:',
        '  gpucloud instances create box-one --offer rtx-4090 --image ubuntu-22-04 --ssh-key laptop --template jupyterlab --drive data --wait',
        '',
        '✔ Rent it? Yes, rent it now',
      ].join('\n'),
    );
    expect(screen).toMatch(
      /See it: +gpucloud instances get box-one\nStop paying: gpucloud instances terminate box-one$/,
    );
    expect(await machines()).toMatchObject([{ name: 'box-one', status: 'ACTIVE' }]);
  });

  test('shows a command that sends the same, word for word', async () => {
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

  test('asks only for what is missing, and for a container with all its parts', async () => {
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

  test('refuses the name of a known instance', async () => {
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

  test('changes an answer before the end, and sends nothing if the user leaves there', async () => {
    await prepared();
    const one = person(['instances', 'create']);
    for (const [question, answer] of QUESTIONS.slice(0, -1)) await one.answers(question, answer);
    await one.answers(/\? Rent it\?[\s\S]*select/, `${down}${enter}`);
    await one.answers(/\? Change what\?[\s\S]*select/, `${down.repeat(4)}${enter}`);
    // The choice starts at the template that was chosen before.
    await one.reads(/❯ JupyterLab/);
    await one.type(`${up}${enter}`);
    await one.reads(/Runs {6}only the base image[\s\S]*--ssh-key laptop --drive data --wait\n/);
    await one.reads(/Runs {6}only the base image[\s\S]*\? Rent it\?[\s\S]*select/);
    await one.type(`${down}${down}${enter}`);
    await expectNothingSent(one);
  });

  test('reports a refusal by the service, with the command that continues', async () => {
    const one = person(['instances', 'create', 'box-one', '--image', 'ubuntu-22-04']);
    await one.answers(/ {2}RTX 3090 .*out of stock[\s\S]*select/, `${up}${down.repeat(4)}${enter}`);
    await one.answers(/\? Go on without a key/, `y${enter}`);
    await one.answers(/\? What runs on it[\s\S]*select/, enter);
    await one.answers(/\? Rent it\?[\s\S]*select/, enter);
    expect(await one.ended()).toBe(5);
    expect(one.screen()).toMatch(
      /out of stock\.[\s\S]*Nothing was rented\.\nhint: choose another name/,
    );
    expect(await machines()).toEqual([]);
  });

  describe.each([
    ['Ctrl-C', ctrlC],
    ['Ctrl-D', ctrlD],
  ])('%s', (_name, key) => {
    test.each(QUESTIONS.map(([question], at) => [String(question), at] as const))(
      'sends and stores nothing if left at %s',
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

  test('leaves no typed value of a variable on the screen', async () => {
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

  describe('the questions about a container', () => {
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
    )('send and store nothing on %s at %s', async (_name, _question, at, key) => {
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

  test('searches long lists, and accepts an ID instead', async () => {
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
    // Ten unbroken rows, with columns aligned in terminal cells.
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
      /\? Offer \(the hardware\) h100 sxm\n❯ 8x H100 80GB SXM5 +2359\.60 ₽\/h.*\n {2}Another, by its id/,
    );
    await one.type(`${clearLine}zzz`);
    await one.reads(/❯ Another, by its id/);
    await one.type(enter);
    await one.answers(/\? Id of the offer *$/m, `../x${enter}`);
    await one.answers('an id holds letters', `${clearLine}offer-99${enter}`);
    await one.reads(/✔ Id of the offer offer-99/);
  });
});
