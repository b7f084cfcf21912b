import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Lists the rooms from top to bottom. A room may import itself and the rooms below it. */
const FLOORS: readonly (readonly string[])[] = [
  // `start` runs the bundle without importing it.
  ['main', 'start'],
  ['run'],
  ['program', 'report'],
  ['commands'],
  ['mcp'],
  ['idle'],
  ['jobs'],
  ['ssh'],
  ['money'],
  ['instances'],
  ['watch'],
  ['ssh-keys'],
  ['command-line', 'retry-change'],
  ['context'],
  ['completion', 'prompts'],
  ['catalog', 'journal'],
  ['json-results'],
  ['api', 'config', 'output', 'sandbox'],
  ['rules', 'system'],
  ['errors', 'warnings', 'concurrency', 'lazy', 'zod'],
];

/** Maps each third-party package to the files that may import it. */
const PARTS: Readonly<Record<string, RegExp>> = {
  '@commander-js/extra-typings': /^(command-line\/(command|help|verb)|program)\.ts$/,
  undici: /^api\/http\/(transport|exchange|connect)\.ts$/,
  // zod.ts exports the names in use. check imports only a type. json-schema needs more for
  // --schema and mcp.
  'zod/mini': /^(zod|api\/schemas\/check|json-results\/json-schema)\.ts$/,
  'cli-table3': /^output\/table\/draw\.ts$/,
  chalk: /^output\/colour\.ts$/,
  ora: /^output\/live\/spinner\.ts$/,
  'fast-wrap-ansi': /^output\/live\/live\.ts$/,
  'string-width': /^output\/table\/string-width\.ts$/,
  '@jmespath-community/jmespath': /^output\/formats\/query\.ts$/,
  yaml: /^output\/formats\/yaml\.ts$/,
  conf: /^config\//,
  inquirer: /^prompts\/inquirer\.ts$/,
  '@napi-rs/keyring': /^system\/keyring\.ts$/,
  hono: /^sandbox\/http\/server\.ts$/,
  '@hono/node-server': /^sandbox\/http\/server\.ts$/,
  ssh2: /^sandbox\/ssh\/ssh2\.ts$/,
  open: /^system\/programs\.ts$/,
  ignore: /^jobs\/files\/files\.ts$/,
  'tar-stream': /^jobs\/files\/tar\.ts$/,
  'big.js': /^rules\/money\.ts$/,
  'proper-lockfile': /^system\/lock\.ts$/,
  '@modelcontextprotocol/sdk/server/index.js': /^mcp\/protocol\.ts$/,
  '@modelcontextprotocol/sdk/server/stdio.js': /^mcp\/protocol\.ts$/,
  '@modelcontextprotocol/sdk/types.js': /^mcp\/(protocol|result|tools)\.ts$/,
};

const ANYWHERE = /./;
const NOWHERE = /(?!)/;

/**
 * Maps each Node module to the files that may import it. Modules that reach the system list single
 * files. Unlisted modules may not be imported.
 */
const OF_NODE: Readonly<Record<string, RegExp>> = {
  'node:buffer': ANYWHERE,
  'node:crypto': ANYWHERE,
  'node:fs': ANYWHERE,
  'node:fs/promises': ANYWHERE,
  'node:os': ANYWHERE,
  'node:path': ANYWHERE,
  'node:stream': ANYWHERE,
  'node:stream/promises': /^jobs\/files\//,
  'node:string_decoder': ANYWHERE,
  'node:util': ANYWHERE,
  'node:zlib': ANYWHERE,
  // main: raises the listener limit of its signals. programs: waits for the exit of `open`.
  'node:events': /^(main|system\/programs|jobs\/files\/pack)\.ts$/,
  // Sets V8's flags for undici's parser on Node 20.
  'node:v8': /^api\/http\/parser\.ts$/,
  // Runs cached code at startup.
  'node:vm': /^(start\/code-cache|output\/formats\/query)\.ts$/,
  'node:process': NOWHERE,
  // createRequire could load modules that these rules forbid.
  'node:module': NOWHERE,
  // api/: opens tunnels through a proxy. sandbox/: serves HTTP. browser: serves a page on loopback,
  // since no file may contain a link with a token.
  'node:http':
    /^(api\/http\/(transport|connect)|sandbox\/(http\/server|refusal)|ssh\/browser)\.ts$/,
  'node:https': NOWHERE,
  // api/: connects to the service. watch/ssh-endpoint: checks SSH. browser: imports a type.
  // reach/tunnel-ports: finds a free local port. sandbox/ssh: opens ports of its
  // instances.
  'node:net':
    /^(api\/http\/(connect|proxy)|watch\/ssh-endpoint|ssh\/browser|ssh\/tunnel-ports|sandbox\/ssh\/(forward|ports))\.ts$/,
  // A terminal for answers while stdin is a pipe; notices a closed terminal.
  'node:tty': /^(main|prompts\/cancel)\.ts$/,
  // Connects to the service by TLS.
  'node:tls': /^api\/http\/(transport|connect)\.ts$/,
  'node:child_process': /^system\/programs\.ts$/,
  // The socket resolves host names, so that a proxy receives unresolved names.
  'node:dns': NOWHERE,
  'node:dns/promises': NOWHERE,
};

/** The maximum number of files per folder. */
const MOST_FILES = 25;

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const pattern =
    /(?:^\s*(?:import|export)\b[^;'"`]*?\bfrom\s*|\bimport\s*\(\s*|^\s*import\s+)(['"`])(.+?)\1/gm;
  return [...code.matchAll(pattern)].map((match) => match[2] ?? '');
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

/** Returns the room of a file, such as `commands` for `commands/instances/get.ts`. */
function roomOf(file: string): string {
  return (file.split('/')[0] ?? '').replace(/\.ts$/, '');
}

function floorOf(file: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(roomOf(file)));
}

function targetOf({ from, to }: Import): string {
  return relative(SRC, join(SRC, dirname(from), to));
}

/** Returns the rule that an import breaks, if any. */
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
    // The tree lists every group.
    return other === group || group === 'tree.ts'
      ? undefined
      : 'groups of commands never import each other';
  }
  if (roomOf(from) === roomOf(to)) {
    return undefined;
  }
  if (roomOf(from) === 'start' && !['config', ...FLOORS.slice(-2).flat()].includes(roomOf(to))) {
    return 'the start imports folders and what lies below, since nothing of it is kept compiled';
  }
  return there > here ? undefined : `${roomOf(from)} may not import ${roomOf(to)}`;
}

function brokenByPart({ from, to }: Import): string | undefined {
  const isNode = to.startsWith('node:');
  const allowed = (isNode ? OF_NODE : PARTS)[to];
  if (allowed === undefined) {
    return `${to} is no part that this test knows`;
  }
  if (allowed === NOWHERE) {
    return `${to} is imported nowhere`;
  }
  return allowed.test(from) ? undefined : `${to} is reached through ${allowed} alone`;
}

/** Removes comments and string literals, but keeps the expressions of templates. */
function bareCode(source: string): string {
  const quoted = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/;
  const template = /`(?:\\.|[^`\\])*`/;
  const comment = /\/\/.*|\/\*[\s\S]*?\*\//;
  const all = new RegExp([quoted, template, comment].map(({ source }) => source).join('|'), 'g');
  return source.replace(all, (text) => {
    if (text.startsWith('/')) return ' ';
    const computed = [...text.matchAll(/(?<!\\)\$\{([^}]*)\}/g)].map(([, code]) => code);
    return text.startsWith('`') ? `\`\${${computed.join(';')}}\`` : "''";
  });
}

/** Matches code that uses the process or loads modules past the import rules. */
function forbiddenWords(source: string): string[] {
  const patterns = [
    // Skips field names such as `intent.process` and `{ process: null }`.
    /(?<![.\w$])process\b(?!(?<=(?:[{,;\n]|readonly)\s*process)\??:)/g,
    /(?<![.\w$])console\b(?!:)/g,
    /(?<![.\w$])(?:globalThis|global)\b(?!\s*:)/g,
    /(?<![.\w$])(?:require|eval|Function)\s*\(/g,
    // Every request must use api/http/, which records when it sends.
    /(?<![.\w$])fetch\b(?=\s*\(|;)/g,
    // A computed path could load any module. Methods named import are allowed.
    /(?<![.\w$]|async )import\s*\((?!\s*(?:''|\w+\??:)).*/g,
  ];
  const code = bareCode(source);
  return patterns.flatMap((pattern) => code.match(pattern) ?? []);
}

/**
 * Lists the files that may write to a stream. All other files print through these, which remove
 * control characters.
 */
const WRITERS =
  /^(main|run|system\/keyring|output\/.+|prompts\/.+|start\/.+|api\/http\/.+|sandbox\/(?:http|ssh)\/.+|jobs\/(output|files\/(pack|local-file)))\.ts$/;

/** Lists the files that may print a response unchanged, on request and only to a pipe. */
const EXACT = /^commands\/(api\/index|instances\/connect\/secrets)\.ts$/;

test('writes to streams and prints raw text only in the listed files', () => {
  const calls = sourceFiles().flatMap((file) => {
    const code = bareCode(readFileSync(join(SRC, file), 'utf8'));
    const isWriter = WRITERS.test(file) || !/\.write\(/.test(code);
    const isExact = EXACT.test(file) || !/\.exact\(/.test(code);
    return isWriter && isExact ? [] : [file];
  });
  expect(calls).toEqual([]);
});

describe('import rules', () => {
  test('finds no broken import rule in src/', () => {
    const broken = allImports().flatMap((one) => {
      const rule = brokenRule(one);
      return rule === undefined ? [] : [`src/${one.from} imports ${one.to}: ${rule}`];
    });
    expect(broken).toEqual([]);
  });

  test('detects a forbidden import in each form', () => {
    const source = `
      import a from 'one';
      import type { b } from "two";
      export { c } from 'three';
      const d = await import('four');
      import 'five';
      // import e from 'not';
      import {
        f,
      } from 'six';
      const g = await import(\`seven\`);`;
    expect(importsOf(source)).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven']);
  });
});

/** The entry points: the program, its startup code and the keyring process. */
const EDGE = ['main.ts', 'start/index.ts', 'system/keyring.ts'];

/** Returns the first import cycle: its files in order, with the first file again at the end. */
function circleIn(imports: readonly Import[]): readonly string[] | undefined {
  const targets = new Map<string, string[]>();
  for (const one of imports.filter(({ to }) => to.startsWith('.'))) {
    targets.set(one.from, [...(targets.get(one.from) ?? []), targetOf(one)]);
  }
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of targets.get(file) ?? []) {
      const circle = visit(next, [...path, file]);
      if (circle !== undefined) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of targets.keys()) {
    const circle = visit(file, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

/** Returns the lines that contain a gpucloud command, ignoring comments. */
function commandLinesIn(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  return code.split('\n').filter((line) => /gpucloud [a-z]/.test(line));
}

describe('src/api', () => {
  test('finds no gpucloud command in src/api', () => {
    const found = sourceFiles()
      .filter((file) => file.startsWith('api/'))
      .flatMap((file) =>
        commandLinesIn(readFileSync(join(SRC, file), 'utf8')).map((line) => `${file}: ${line}`),
      );
    expect(found).toEqual([]);
  });
});

describe('the files of src/', () => {
  test('finds no import cycle in src/', () => {
    expect(circleIn(allImports())).toBeUndefined();
  });

  test('limits folders in src/ to 25 files', () => {
    const counts = new Map<string, number>();
    for (const file of sourceFiles()) {
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    const crowded = [...counts].filter(([, count]) => count > MOST_FILES);
    expect(crowded).toEqual([]);
  });
});

describe('process, console and computed imports', () => {
  test('allows process, console and computed imports only in the entry points', () => {
    const offences = sourceFiles()
      .filter((file) => !EDGE.includes(file))
      .flatMap((file) =>
        forbiddenWords(readFileSync(join(SRC, file), 'utf8')).map((word) => `src/${file}: ${word}`),
      );
    expect(offences).toEqual([]);
  });

  test.each([
    'process.exit(1);',
    'const { argv } = process;',
    'start(process, 1);',
    'const on = left ? process : right;',
    'const at = `${process.cwd()}/x`;',
    'globalThis.process.exit(1);',
    "const all = globalThis['process'];",
    'const { process: own } = globalThis;',
    'global.process?.exit();',
    'console.log(1);',
    'const { log } = console;',
    'const part = await import(`./${name}.ts`);',
    'const part = await import(`./name.ts`);',
    'const part = await import(name);',
    "const part = require('undici');",
    "const exit = eval('process.exit');",
    'const page = await fetch(url);',
    'const get = fetch;',
    "const url = 'https://x'; process.exit(1);",
  ])('detects the forbidden code %s', (source) => {
    expect(forbiddenWords(source)).not.toEqual([]);
  });
});
