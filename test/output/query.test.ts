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

  test.each([
    ['[].{i: id}', ['jsonl'], '{"i":"k1"}\n{"i":"k2"}\n'],
    ['length(@)', ['jsonl'], '2\n'],
    ['[].[id, is_default, fingerprint]', ['tsv'], 'k1\ttrue\tSHA256:a\nk2\tfalse\t\n'],
    ['[].id', ['tsv'], 'k1\nk2\n'],
    ['[].id', ['csv'], 'k1\nk2\n'],
    ['[].[id, is_default, fingerprint]', ['csv'], 'k1,true,SHA256:a\nk2,false,\n'],
    ['[0].{i: id}', ['csv'], 'i\nk1\n'],
    ['[[0].{i: id}, [1].{n: is_default}]', ['csv'], 'i,n\nk1,\n,false\n'],
    ['[].{i: id}', ['csv', '--no-header'], 'k1\nk2\n'],
    ['`[]`', ['csv'], ''],
    ['[`null`, [0].{i: id}]', ['csv'], '\n"{""i"":""k1""}"\n'],
    ['[`{}`]', ['csv'], '\n'],
    ["['=1', 'a']", ['csv'], '=1\na\n'],
    ["['=1', 'a']", ['csv', '--csv-safe'], `"'=1"\na\n`],
    ["[['=1', 'a']]", ['csv', '--csv-safe'], `"'=1",a\n`],
    ['[{"=i": `"=1"`}]', ['csv', '--csv-safe'], `"'=i"\n"'=1"\n`],
    ['[].id', ['yaml'], '- k1\n- k2\n'],
  ])('writes the result of %s in %j', async (query, [format = '', ...flags], text) => {
    expect(await found('--query', query, '-o', format, ...flags)).toBe(text);
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

  const [QUOTES, BACKTICKS] = [
    "put text in single quotes: name=='box'; backticks are for JSON",
    'put a number in backticks: `100`',
  ];
  test.each([
    ['[?', ': the expression is incomplete', null],
    [') name', ': unexpected ) at character 1', null],
    ['[].id name', ': unexpected name at character 7', null],
    ['a..b', ': unexpected . at character 3', null],
    ['[?price > 100]', ': unexpected 100 at character 11', BACKTICKS],
    [
      '[?name==`x`]',
      ': Syntax error: unexpected end of JSON input or invalid format for a JSON literal: `',
      QUOTES,
    ],
    ['length(id, name)', ': Invalid arity: length() takes 1 argument but received 2', null],
    ['[].{n: sum()}', ': Invalid arity: sum() takes 1 argument but received 0', null],
    ['[?size(@) > `1`]', ': Unknown function: size()', QUOTES],
  ])('rejects the query %j before any request', async (query, reason, hint) => {
    const argv = ['ssh-keys', 'list', '--query', query];
    const { code, stdout, stderr, requests } = await world.cli(argv);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    const message = `--query "${query}"${reason}`;
    expect(JSON.parse(stderr).error).toMatchObject({ message, hint });
  });

  test.each([
    [['', '-o', 'csv'], '--query is empty'],
    [[' ', '-o', 'csv'], '--query is empty'],
    [['[]', '-q'], '--query "[]": works with json, jsonl, yaml, csv, tsv, not id'],
  ])('rejects --query with %j before any request', async (words, message) => {
    const result = await world.cli(['ssh-keys', 'list', '--query', ...words]);
    expect(result).toEqual({ code: 2, stdout: '', stderr: `error: ${message}\n`, requests: [] });
  });

  test.each(['abs(@)', `abs(@) || '${'x'.repeat(188)}'`, `abs(@) || '${'x'.repeat(189)}'`])(
    'exits with 2 and quotes the start of an expression that does not fit the data: %s',
    async (query) => {
      const { code, stderr } = await world.cli(['ssh-keys', 'list', '--query', query]);
      expect(code).toBe(2);
      const shown = query.length > 200 ? `${query.slice(0, 200)}…` : query;
      expect(JSON.parse(stderr).error).toMatchObject({
        message: `--query "${shown}": Invalid type: abs() expected argument 1 to be type (number) but received type array instead.`,
        hint: null,
      });
    },
  );
});

test.each([
  ['doubles a list', `@${'|[@,@][]'.repeat(30)}`, /: it takes longer than 0\.2 s$/],
  ['doubles its result', `@${'|[@,@]'.repeat(30)}`, /: it takes longer than 0\.2 s$|too large$/],
  ['makes a large text', "pad_left('a', `20000000`)", /: the result is too large$|takes longer/],
  ['is long and wrong', `${'a.'.repeat(30_000)}a ]`, /: (it takes longer|unexpected)/],
  ['returns too much', "pad_left('a', `1000`)", /: the result is too large$/],
  ['does not fit the data', 'abs(@)', /: Invalid type: abs\(\) expected argument 1 .* instead\.$/],
])('stops an untrusted query that %s', async (_what, query, message) => {
  const limits = { milliseconds: 200, characters: 1_000 };
  const search = async () => (await compileQuery(query, limits))(KEYS);
  await expect(search()).rejects.toThrow(message);
});
