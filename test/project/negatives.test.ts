import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

// An assertion that a text is absent can't fail if nothing can produce the text, for example after
// its wording changed. So the program, or the test itself, must have the text.

const ROOT = join(import.meta.dirname, '../..');

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly value?: unknown;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
  readonly expressions?: readonly Node[];
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: { readonly name?: string };
  readonly arguments?: readonly Node[];
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** Returns a node and all nodes in it. */
function nodesIn(node: Node, into: Node[] = []): Node[] {
  into.push(node);
  for (const value of Object.values(node)) {
    if (isNode(value)) nodesIn(value, into);
    else if (Array.isArray(value)) for (const each of value) if (isNode(each)) nodesIn(each, into);
  }
  return into;
}

/** Returns the argument of `.not.toContain(…)` or `.not.toMatch(…)`. */
function negated({ type, callee, arguments: [argument] = [] }: Node): Node | undefined {
  const isAbsence =
    type === 'CallExpression' &&
    ['toContain', 'toMatch'].includes(callee?.property?.name ?? '') &&
    callee?.object?.property?.name === 'not';
  return isAbsence ? argument : undefined;
}

/** Returns the text or pattern of a literal. */
function textsOf({ type, value, regex, quasis = [] }: Node): string[] {
  if (regex !== undefined) return [regex.pattern];
  if (type === 'Literal' && typeof value === 'string') return [value];
  return quasis.map((part) => part.value.cooked);
}

/** Returns the texts in a source, and the literals that its assertions expect to be absent. */
function readSource(source: string): { texts: string[]; absent: Node[] } {
  const nodes = nodesIn(parseAst(source, { lang: 'ts' }) as unknown as Node);
  const absent = new Set(nodes.flatMap((node) => negated(node) ?? []));
  const parts = new Set([...absent].flatMap((node) => nodesIn(node)));
  return {
    texts: nodes.filter((node) => !parts.has(node)).flatMap(textsOf),
    absent: [...absent].filter(({ type, value, expressions = [] }) => {
      // Libraries write control sequences.
      if (typeof value === 'string' && value.startsWith('\u001b')) return false;
      return type === 'Literal' || (type === 'TemplateLiteral' && expressions.length === 0);
    }),
  };
}

/** Returns the absent texts of a test that neither the test nor `known` has. */
function impossible(source: string, known: readonly string[]): string[] {
  // Most files have none, and parsing takes long.
  if (!source.includes('.not.to')) return [];
  const { texts, absent } = readSource(source);
  return absent
    .filter((node) => {
      const { regex } = node;
      const [text = ''] = textsOf(node);
      const pattern = regex && new RegExp(regex.pattern, regex.flags.replace('g', ''));
      const matches = (each: string) => pattern?.test(each) ?? each.includes(text);
      return !texts.some(matches) && !known.some(matches);
    })
    .map(({ start, end }) => source.slice(start, end));
}

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test.each<[source: string, ...found: string[]]>([
  ["expect(a).not.toContain('old words');", "'old words'"],
  ['expect(a).not.toMatch(/old (?:words)/);', '/old (?:words)/'],
  ['expect(a).not.toContain(`old words`);', '`old words`'],
  ["expect(a).not.toContain('new');"],
  ['expect(a).not.toMatch(/N.W/i);'],
  ["const KEY = 'old words'; expect(a).not.toContain('old words');"],
  ["expect(a).toContain('old words'); expect(b).not.toContain('old words');"],
  ['expect(a).not.toContain(`old ${words}`);'],
  ['expect(a).not.toContain(words);'],
  ["expect(a).not.toContain('\\u001b[2J');"],
])('finds the impossible texts of %j', (source, ...found) => {
  expect(impossible(source, ['new words'])).toEqual(found);
});

test('only tests for the absence of texts that the program or the test has', () => {
  const helpers = filesIn('test').filter((file) => !file.endsWith('.test.ts'));
  const known = [...filesIn('src'), ...helpers].flatMap((file) => readSource(read(file)).texts);
  const found = filesIn('test').flatMap((file) =>
    impossible(read(file), known).map((text) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
  // Parses a thousand files.
}, 120_000);
