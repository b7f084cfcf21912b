import { beforeEach, describe, expect, test } from 'vitest';
import { compileQuery } from '../../src/output/formats/query.ts';
import { createWorld, type World } from '../support/run-cli.ts';

const KEYS = [
  {
    id: 'k1',
    name: 'laptop',
    is_default: true,
    fingerprint: 'SHA256:a',
    created_at: '2026-01-01T00:00:00Z',
  },
  { id: 'k2', name: 'tab\tname\u001b[31m', is_default: false, fingerprint: null },
];

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => ({ status: 200, body: { data: KEYS } }) });
});

async function found(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await world.cli(['ssh-keys', 'list', ...argv]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('--query', () => {
  test('prints the --query result as JSON and implies --json', async () => {
    expect(await found('--query', '[].id')).toBe('[\n  "k1",\n  "k2"\n]\n');
    expect(await found('--query', 'sort_by(@, &name)[*].not_null(name, id) | length(@)')).toBe(
      '2\n',
    );
    expect(await found('--query', '[?is_default].name | [0]', '--json')).toBe('"laptop"\n');
    expect(await found('--query', 'length(@)', '-o', 'yaml')).toBe('2\n');
  });

  test('writes a line per element of a --query result in jsonl and tsv', async () => {
    expect(await found('--query', '[].{i: id}', '-o', 'jsonl')).toBe('{"i":"k1"}\n{"i":"k2"}\n');
    expect(await found('--query', '[].[id, is_default, fingerprint]', '-o', 'tsv')).toBe(
      'k1\ttrue\tSHA256:a\nk2\tfalse\t\n',
    );
  });

  test('prints --query text in tsv without quotes and control characters', async () => {
    expect(await found('--query', '[0].name', '-o', 'tsv')).toBe('laptop\n');
    expect(await found('--query', '[1].name', '-o', 'tsv')).toBe('tab\\tname\n');
    expect(await found('--query', '[1].name')).toBe('"tab\\tname\\u001b[31m"\n');
  });

  test('prints an error as text in a terminal, and as JSON in a pipe', async () => {
    const argv = ['ssh-keys', 'list', '--query', 'a..b'];
    const text = 'error: --query "a..b": unexpected . at character 3\n';
    const person = await world.cli([...argv, '--no-color'], { terminal: true });
    expect(person.stderr).toBe(text);
    const asked = await world.cli([...argv, '--json', '--no-color'], { terminal: true });
    expect(JSON.parse(asked.stderr).error.code).toBe('usage');
    expect(JSON.parse((await world.cli(argv)).stderr).error.code).toBe('usage');
  });

  test.each([
    [['--query', '[?'], '--query "[?": the expression is incomplete'],
    [['--query', '[].id name'], '--query "[].id name": unexpected name at character 7'],
    [['--query', 'a..b'], '--query "a..b": unexpected . at character 3'],
    [['--query', '[?price > 100]'], 'put a number in backticks: `100`'],
    [['--query', ''], '--query is empty'],
    [['--query', ' '], '--query is empty'],
    [['--query', '[?name==`x`]'], "put text in single quotes: name=='box'"],
    [['--query', 'length(id, name)'], '--query "length(id, name)": Invalid arity: length()'],
    [['--query', '[].{n: sum()}'], 'Invalid arity: sum()'],
    [['--query', '[?size(@) > `1`]'], 'Unknown function: size()'],
    [['--query', '[]', '-q'], '--query "[]": works with json, jsonl, yaml, csv, tsv, not id'],
  ])('rejects the query %j before any request', async (argv, words) => {
    const { code, stdout, stderr, requests } = await world.cli(['ssh-keys', 'list', ...argv]);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stderr.replaceAll('\\"', '"')).toContain(words);
  });

  test('exits with 2 and quotes an expression that does not fit the data', async () => {
    const { code, stderr } = await world.cli(['ssh-keys', 'list', '--query', 'abs(@)']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr).error.message).toContain('--query "abs(@)"');
  });
});

test.each([
  ['doubles a list', `@${'|[@,@][]'.repeat(30)}`, /: it takes longer than 0\.05 s$/],
  ['doubles its result', `@${'|[@,@]'.repeat(30)}`, /: it takes longer than 0\.05 s$|too large$/],
  ['makes a large text', "pad_left('a', `20000000`)", /: the result is too large$|takes longer/],
  ['is long and wrong', `${'a.'.repeat(30_000)}a ]`, /: (it takes longer|unexpected)/],
])('stops an untrusted query that %s', async (_what, query, message) => {
  const limits = { milliseconds: 50, characters: 1_000 };
  const search = async () => (await compileQuery(query, limits))(KEYS);
  await expect(search()).rejects.toThrow(message);
});
