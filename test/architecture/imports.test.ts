import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Rooms may import the rooms of later rows only, and their own. */
const FLOORS: readonly (readonly string[])[] = [
  ['main'],
  ['run'],
  ['program', 'report'],
  ['commands'],
  ['context'],
  // Completion learns names from what the rooms below it see.
  ['prompts', 'completion'],
  ['api', 'config', 'rentals', 'catalog', 'output', 'watch', 'sandbox'],
  ['rules', 'errors', 'files', 'clock'],
];

/** Each third-party part and the files that may import it. */
const PARTS: Readonly<Record<string, RegExp>> = {
  '@commander-js/extra-typings': /^(commands\/kit\/(command|verb)|program)\.ts$/,
  undici: /^api\/(transport|connect)\.ts$/,
  'zod/mini': /^(api\/schemas\/|config\/schema|catalog\/schema|rentals\/record|sandbox\/)/,
  'cli-table3': /^output\/table\.ts$/,
  chalk: /^output\/colour\.ts$/,
  ora: /^output\/spinner\.ts$/,
  'string-width': /^output\/width\.ts$/,
  '@jmespath-community/jmespath': /^output\/query\.ts$/,
  yaml: /^(output\/yaml|commands\/instances\/yaml-file)\.ts$/,
  conf: /^config\//,
  inquirer: /^prompts\/inquirer\.ts$/,
  hono: /^sandbox\/http\.ts$/,
  '@hono/node-server': /^sandbox\/http\.ts$/,
  open: /^commands\/instances\/browser\.ts$/,
  marked: /^commands\/templates\/markdown\.ts$/,
  'big.js': /^rules\/money\.ts$/,
  'proper-lockfile': /^files\/lock\.ts$/,
};

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const pattern =
    /(?:^\s*(?:import|export)\b[^;'"`]*?\bfrom\s*|\bimport\s*\(\s*|^\s*import\s+)['"]([^'"]+)['"]/gm;
  return [...code.matchAll(pattern)].map((match) => match[1] ?? '');
}

function sourceFiles(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort();
}

function allImports(): Import[] {
  return sourceFiles().flatMap((from) =>
    importsOf(readFileSync(join(SRC, from), 'utf8')).map((to) => ({ from, to })),
  );
}

/** `commands/instances/get.ts` stands in the room `commands`, `errors.ts` in `errors`. */
function roomOf(file: string): string {
  return (file.split('/')[0] ?? '').replace(/\.ts$/, '');
}

function floorOf(file: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(roomOf(file)));
}

function targetOf({ from, to }: Import): string {
  return relative(SRC, join(SRC, dirname(from), to));
}

/** The rule that an import breaks, or undefined. */
function brokenRule(one: Import): string | undefined {
  return one.to.startsWith('.') ? brokenByRoom(one) : brokenByPart(one);
}

function brokenByRoom(one: Import): string | undefined {
  const { from } = one;
  const to = targetOf(one);
  const [here, there] = [floorOf(from), floorOf(to)];
  if (here < 0 || there < 0) {
    return 'every file of src/ stands in a room that this test knows';
  }
  if (roomOf(from) === 'commands' && roomOf(to) === 'commands') {
    const [group, other] = [from.split('/')[1], to.split('/')[1]];
    return other === 'kit' || other === group
      ? undefined
      : 'groups of commands never import each other';
  }
  if (roomOf(from) === roomOf(to)) {
    return undefined;
  }
  return there > here ? undefined : `${roomOf(from)} may not import ${roomOf(to)}`;
}

function brokenByPart({ from, to }: Import): string | undefined {
  if (to.startsWith('node:')) {
    return undefined;
  }
  const allowed = PARTS[to];
  if (allowed === undefined) {
    return `${to} is no part that this test knows`;
  }
  return allowed.test(from) ? undefined : `${to} is reached through ${allowed} alone`;
}

describe('imports run one way', () => {
  test('no import of src/ breaks a rule', () => {
    const broken = allImports().flatMap((one) => {
      const rule = brokenRule(one);
      return rule === undefined ? [] : [`src/${one.from} imports ${one.to}: ${rule}`];
    });
    expect(broken).toEqual([]);
  });

  test.each([
    ['api/http.ts', '../commands/kit/verb.ts', 'api may not import commands'],
    ['sandbox/http.ts', '../api/index.ts', 'sandbox may not import api'],
    ['rules/ids.ts', '../output/index.ts', 'rules may not import output'],
    [
      'commands/drives/list.ts',
      '../instances/view.ts',
      'groups of commands never import each other',
    ],
    ['commands/drives/list.ts', 'undici', 'undici is reached through'],
    ['run.ts', './main.ts', 'run may not import main'],
    ['helpers/x.ts', '../errors.ts', 'every file of src/ stands in a room'],
    ['api/http.ts', 'left-pad', 'left-pad is no part'],
  ])('src/%s may not import %s', (from, to, rule) => {
    expect(brokenRule({ from, to })).toContain(rule);
  });

  test('imports are found in each form', () => {
    const source = `
      import a from 'one';
      import type { b } from "two";
      export { c } from 'three';
      const d = await import('four');
      import 'five';
      // import e from 'not';
      import {
        f,
      } from 'six';`;
    expect(importsOf(source)).toEqual(['one', 'two', 'three', 'four', 'five', 'six']);
  });
});

describe('the edge owns the process', () => {
  test.each(sourceFiles().filter((file) => file !== 'main.ts'))(
    'src/%s touches neither process nor console',
    (file) => {
      const code = readFileSync(join(SRC, file), 'utf8')
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/\/\/.*$/gm, '')
        .replace(/'[^'\n]*'/g, "''");
      expect(code.match(/(?<![.\w])(process|console)\.\w+/g) ?? []).toEqual([]);
    },
  );
});
