import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { sshPublicKey } from '../support/ssh-key.ts';

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld();
});

async function rent(name: string): Promise<string> {
  const { stdout } = await world.cli(['instances', 'create', name, ...HARDWARE, '--wait', '-q']);
  return stdout.trim();
}

function statuses(json: string): [string, string][] {
  return JSON.parse(json).map(({ name, status }: { name: string; status: string }) => [
    name,
    status,
  ]);
}

describe('reading names from stdin', () => {
  test('passes IDs from list -q to stop, wait, start and terminate', async () => {
    await rent('box-a');
    await rent('box-b');
    const { stdout: ids } = await world.cli(['instances', 'list', '-q']);
    for (const [line, status] of [
      [['stop', '-', '--wait'], 'STOPPED'],
      [['wait', '-', '--for', 'stopped'], 'STOPPED'],
      [['start', '-', '--wait'], 'ACTIVE'],
      [['terminate', '-', '--yes', '--wait'], 'TERMINATED'],
    ] as const) {
      const run = await world.cli(['instances', ...line, '--json'], { stdin: ids });
      expect(run).toMatchObject({ code: 0, stderr: '' });
      expect(statuses(run.stdout).sort()).toEqual([
        ['box-a', status],
        ['box-b', status],
      ]);
    }
  });

  test('skips blank lines on stdin, and accepts CRLF and names in arguments', async () => {
    await rent('box-a');
    await rent('box-b');
    await rent('box-c');
    const { code, stdout } = await world.cli(['instances', 'stop', 'box-a', '-', '--json'], {
      stdin: '\n  box-b\r\n\r\nbox-c',
    });
    expect(code).toBe(0);
    expect(statuses(stdout)).toEqual([
      ['box-a', 'STOPPING'],
      ['box-b', 'STOPPING'],
      ['box-c', 'STOPPING'],
    ]);
  });

  test('exits with 0 and sends nothing if stdin is empty', async () => {
    const people = await world.cli(['instances', 'stop', '-'], { stdin: '\n' });
    expect(people).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No names on stdin.\n',
      requests: [],
    });
    const json = await world.cli(['instances', 'terminate', '-', '-y', '--json']);
    expect(json).toEqual({ code: 0, stdout: '[]\n', stderr: '', requests: [] });
  });

  test("requires --yes for terminate with names on stdin, since stdin can't also answer a prompt", async () => {
    const id = await rent('box-a');
    for (const stdin of [`${id}\n`, '']) {
      const { code, stderr, requests } = await world.cli(['instances', 'terminate', '-'], {
        stdin,
      });
      expect({ code, requests }).toEqual({ code: 2, requests: [] });
      expect(stderr).toContain('add --yes');
    }
  });

  test.each([
    ['instances', 'stop'],
    ['instances', 'terminate'],
    ['instances', 'wait'],
    ['ssh-keys', 'delete'],
    ['instances', 'get'],
    ['instances', 'endpoints'],
    ['drives', 'get'],
    ['drives', 'resume'],
    ['ssh-keys', 'get'],
    ['templates', 'get'],
  ])('rejects names from stdin in a terminal: %s %s', async (group, verb) => {
    const { code, stderr, requests } = await world.cli([group, verb, '-'], { terminal: true });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stripVTControlCharacters(stderr)).toMatch(
      /^error: (INSTANCE|KEY|DRIVE|TEMPLATE) "-": stdin is a terminal\nhint: pipe a list into it/,
    );
  });

  test('rejects - as each of two arguments', async () => {
    const { code, stderr } = await world.cli(['instances', 'stop', '-', '-'], { stdin: 'x' });
    expect(code).toBe(2);
    expect(stderr).toContain('stdin can be read only once');
  });

  test('rejects more than 1 MiB on stdin', async () => {
    const { code, stderr, requests } = await world.cli(['instances', 'stop', '-'], {
      stdin: 'box\n'.repeat(300_000),
    });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toBe('error: INSTANCE "stdin": longer than 1 MiB\n');
  });

  test('validates each line of stdin', async () => {
    const { code, stderr, requests } = await world.cli(['instances', 'stop', '-'], {
      stdin: 'a/../b\n',
    });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain('INSTANCE "a/../b"');
  });
});

describe('reading names from stdin in a command for one item', () => {
  interface Row {
    name: string;
    instance_id: string;
  }

  async function prepare(): Promise<string> {
    const id = await rent('box-a');
    await rent('box-b');
    for (const name of ['one', 'two']) {
      await world.cli(['drives', 'create', name, '--size', '10GB']);
      await world.cli(['ssh-keys', 'add', '-', '--name', name], {
        stdin: sshPublicKey('ssh-ed25519'),
      });
    }
    return id;
  }

  test.each([
    ['instances', 'get', 'box-a', 'box-b'],
    ['drives', 'get', 'one', 'two'],
    ['ssh-keys', 'get', 'one', 'two'],
    ['templates', 'get', 'JupyterLab', 'vLLM'],
  ])(
    "prints each item found, and exits with the missing item's code, in %s %s",
    async (group, verb, one, other) => {
      await prepare();
      const stdin = `${one}\nnothing-like-it\n${other}\n${one}\n`;
      const json = await world.cli([group, verb, '-', '--json'], { stdin });
      expect(json.code).toBe(3);
      expect(JSON.parse(json.stdout).map(({ name }: Row) => name)).toEqual([one, other]);

      const table = await world.cli([group, verb, one, other]);
      expect(table.code).toBe(0);
      expect(table.stdout.split('\n')).toHaveLength(4);
      const single = await world.cli([group, verb, one, '--json']);
      expect(JSON.parse(single.stdout)).toMatchObject({ name: one });
    },
  );

  test('resumes the other drives if one is refused, and exits with the highest-priority code', async () => {
    await world.sandbox.reset({ balance: '5' });
    for (const name of ['one', 'two']) {
      await world.cli(['drives', 'create', name, '--size', '100GB']);
    }
    await world.sandbox.advance(24 * 3_600_000);
    await world.sandbox.deposit('1000');
    await world.cli(['drives', 'create', 'awake', '--size', '10GB']);
    const stdin = 'one\nawake\ntwo\nnothing-like-it\n';
    const { code, stdout } = await world.cli(['drives', 'resume', '-', '--json'], {
      stdin,
    });
    expect(code).toBe(5);
    expect(statuses(stdout)).toEqual([
      ['one', 'AVAILABLE'],
      ['two', 'AVAILABLE'],
    ]);
  });

  test('labels each endpoint with its instance in instances endpoints', async () => {
    const ids = [];
    for (const name of ['lab-a', 'lab-b']) {
      const argv = ['instances', 'create', name, ...HARDWARE, '--template', 'jupyterlab'];
      ids.push((await world.cli([...argv, '--wait', '-q'])).stdout.trim());
    }
    const stdin = 'lab-a\nnothing-like-it\nlab-b\n';
    const json = await world.cli(['instances', 'endpoints', '-', '--json'], { stdin });
    expect(json.code).toBe(3);
    const rows: Row[] = JSON.parse(json.stdout);
    expect([...new Set(rows.map(({ instance_id }) => instance_id))]).toEqual(ids);
    const table = await world.cli(['instances', 'endpoints', 'lab-a', 'lab-b']);
    expect(table.stdout).toMatch(/^INSTANCE +NAME .*\n(lab-a .*\n){2}(lab-b .*\n){2}$/);
  });

  test('prints a list for names from stdin, even for one, and rejects --watch and --markdown', async () => {
    await prepare();
    const one = await world.cli(['drives', 'get', '-', '--json'], { stdin: 'one\n' });
    expect(JSON.parse(one.stdout)).toMatchObject([{ name: 'one' }]);
    for (const argv of [
      ['instances', 'get', 'box-a', 'box-b', '--watch'],
      ['templates', 'get', 'jupyterlab', 'vllm', '--markdown'],
    ]) {
      expect((await world.cli(argv)).code).toBe(2);
    }
  });
});

describe('a command that changes instances', () => {
  const FIELDS = ['id', 'name', 'status', 'paid_until', 'ends_at'];

  test.each([
    ['stop', []],
    ['wait', []],
    ['terminate', ['--yes']],
    ['expire', ['--after', '4h']],
    ['track', []],
    ['untrack', ['--yes']],
  ])(
    'prints an object for one name and an array otherwise, with the same fields: %s',
    async (verb, flags) => {
      const id = await rent('box-a');
      const one = await world.cli(['instances', verb, id, ...flags, '--json']);
      expect(one.code).toBe(0);
      expect(Object.keys(JSON.parse(one.stdout))).toEqual(FIELDS);
      await world.cli(['instances', 'track', id]);
      const piped = await world.cli(['instances', verb, '-', ...flags, '--json'], { stdin: id });
      expect(JSON.parse(piped.stdout).map(Object.keys)).toEqual([FIELDS]);
      const missing = await world.cli(['instances', verb, 'nobody', ...flags, '--json']);
      expect(missing.stdout).toBe('');
    },
  );

  test('applies --query to the object of one name, and prints a table for people', async () => {
    await rent('box-a');
    const argv = ['instances', 'wait', 'box-a'];
    const status = await world.cli([...argv, '--query', 'status', '-o', 'tsv']);
    expect(status.stdout).toBe('ACTIVE\n');
    await world.cli(argv);
  });

  test('shows the deadline until the instance is terminated', async () => {
    await rent('box-a');
    const expire = ['instances', 'expire', 'box-a', '--after', '4h', '--json'];
    const { ends_at } = JSON.parse((await world.cli(expire)).stdout);
    const endOf = async (...words: string[]) =>
      JSON.parse((await world.cli(['instances', ...words, '--json'])).stdout).ends_at;
    expect(Date.parse(ends_at)).toBeGreaterThan(0);
    expect(await endOf('wait', 'box-a')).toBe(ends_at);
    expect(await endOf('stop', 'box-a', '--wait')).toBe(ends_at);
    expect(await endOf('start', 'box-a')).toBe(ends_at);
    expect(await endOf('terminate', 'box-a', '--yes')).toBeNull();
  });

  test('prints a deleted key as an object', async () => {
    await world.cli(['ssh-keys', 'add', '-', '--name', 'one'], {
      stdin: sshPublicKey('ssh-ed25519'),
    });
    const { stdout } = await world.cli(['ssh-keys', 'delete', 'one', '--yes', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'one' });
  });
});

test('shows a person several resources as a table, and one with its details', async () => {
  for (const name of ['data', 'other'])
    await world.cli(['drives', 'create', name, '--size', '10', '-y']);
  for (const names of [['data'], ['data', 'other']]) {
    const { stdout } = await world.cli(['drives', 'get', ...names, '--no-color'], {
      terminal: true,
    });
    const words = stripVTControlCharacters(stdout).split(/\s+/);
    expect(names.filter((name) => words.includes(name))).toEqual(names);
  }
});
