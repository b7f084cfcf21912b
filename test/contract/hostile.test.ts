import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { anyText, fc, fewer, some } from '../support/random.ts';
import type { CliResult, SandboxWorld } from '../support/run-cli.ts';
import type { Answer, Handler } from '../support/service.ts';
import { COMMANDS, type Prepared, prepare } from './tree.ts';

/** Excludes commands that serve until they are stopped, which have tests of their own. */
const ENDING = COMMANDS.filter((command) => !['sandbox serve', 'mcp'].includes(command));

const FORMATS = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'id'] as const;
type Format = (typeof FORMATS)[number];

/** Terminal sequences, invisible characters and characters that reverse a line. */
const SEQUENCES = [
  '\u001b]52;c;SE9TVElMRQ==\u0007',
  '\u001b]8;;https://evil.example\u001b\\here\u001b]8;;\u001b\\',
  '\u001b[13;37H',
  '\u001b[2J',
  '\u001bP1$qm\u001b\\',
  '\u001bc',
  '\u009b31m',
  '\u009d52;c;SE8=\u009c',
  '\r\n',
  'A\rB',
  '\u2028',
];
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...SEQUENCES),
      fc.constantFrom(
        ...'\b\t\n\r\u0000\u007f\u0085\u202e\u2066\u200b\u200d\u200e\u2060\ufeff\u061c',
      ),
      anyText({ minLength: 1, maxLength: 3 }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  // gpucloud itself never prints this mark.
  .map((parts) => `\u001b]52;c;SE8=\u0007\u202e${parts.join('')}`);

/** Matches characters that no output may contain, except line ends and separators. */
const RAW =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/u;

/** Matches the line ends and separators of each format. */
const MADE_OF: Readonly<Record<Format, RegExp>> = {
  table: /\n/g,
  json: /\n/g,
  jsonl: /\n/g,
  csv: /[\n\t]/g,
  tsv: /[\n\t]/g,
  yaml: /\n/g,
  id: /\n/g,
};

/** Matches the colours, cursor moves and clears that gpucloud sends to a terminal. */
const OWN =
  /\r\u001b\[K|\u001b\[(?:\d{0,2}(?:;(?:1|2|3[0-9]|4[0-9]|5;\d+))*m|\d*[A-DGJK]|\?(?:7|25|1049|2004|2026)[hl]|\d+;1H)|\r+\n|\u001b\[\d*n/g;

/** The answer to the first prompt. */
const CTRL_C = '\u0003';

/** Matches the fields that commands need. All other strings become hostile. */
const STRUCTURE = /^(id|.*_id|status|type|.*_at|.*_until|ip_address|.*price.*|.*amount.*|balance)$/;

/** Matches structural fields, and the fields used for lookups. */
const NAMES_TOO = new RegExp(`${STRUCTURE.source}|^(name|slug)$`);

type Poison = (body: unknown) => unknown;

/** Puts the text around each string of a value, and into an extra field. */
function poisoned(text: string, keeps: RegExp): Poison {
  const poison = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return keeps.test(key) ? value : `${text}${value}${text}`;
    if (Array.isArray(value)) return value.map((one: unknown) => poison(one, key));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([name, one]) => [name, poison(one, name)]);
    return { ...Object.fromEntries(fields), [text]: text };
  };
  return (body) => poison(body, '');
}

/** Wraps a service so that the test can change its responses. */
function changeable() {
  let change: ((answer: Answer) => Answer) | undefined;
  return {
    become(next: typeof change) {
      change = next;
    },
    wrap:
      (handler: Handler): Handler =>
      async (request) => {
        const answer = await handler(request);
        return answer === 'hangUp' || change === undefined ? answer : change(answer);
      },
  };
}

const changed = (poison: Poison) => (answer: Answer) => ({
  ...answer,
  body: JSON.stringify(poison(JSON.parse(String(answer.body)))),
});

/** Returns changes that make responses hostile. */
function manners(text: string): readonly ((answer: Answer) => Answer)[] {
  const message = `${text}no${text}`;
  return [
    changed(poisoned(text, NAMES_TOO)),
    changed(poisoned(text, STRUCTURE)),
    changed(poisoned(text, /^(?:id|.*_id)$/)),
    changed(poisoned(text, /(?!)/)),
    () => ({ status: 409, body: { status: 'error', code: 409, message, data: { id: message } } }),
    () => ({ status: 400, body: { statusCode: 400, message: [message], error: message } }),
    () => ({ status: 500, body: `<html>${text}` }),
    () => ({ status: 200, body: `{"status":"success","data":{"id":"${text}` }),
  ];
}

let prepared: Prepared | undefined;
afterEach(async () => {
  await prepared?.kitchen.close();
  prepared = undefined;
});

/** Returns a function that restores the service and this computer's files. */
function undoer({ home, sandboxFile }: SandboxWorld): () => void {
  const files = () => [
    ...['config', 'state'].flatMap((name) => filesUnder(join(home, name))),
    sandboxFile,
  ];
  const before = new Map(files().map((path) => [path, readFileSync(path)]));
  return () => {
    for (const path of files()) if (!before.has(path)) rmSync(path, { force: true });
    for (const [path, content] of before) {
      if (existsSync(path) && readFileSync(path).equals(content)) continue;
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, content, { mode: 0o600 });
    }
  };
}

function filesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Writes a config file with hostile names and addresses. */
async function poisonConfig(home: string, text: string): Promise<void> {
  const file = join(home, 'config', 'config.json');
  await mkdir(join(home, 'config'), { recursive: true, mode: 0o700 });
  const now = await readFile(file, 'utf8').then(JSON.parse, () => ({ profiles: {} }));
  now.profiles[text] = { base_url: `https://${text}`, account: { id: text, email: text } };
  await writeFile(file, JSON.stringify(now), { mode: 0o600 });
}

function expectClean({ stdout, stderr }: CliResult, format: Format, what: object): void {
  const found = {
    ...what,
    stdout: RAW.exec(stdout.replace(MADE_OF[format], ''))?.[0],
    stderr: RAW.exec(stderr.replace(/\n/g, ''))?.[0],
  };
  expect(found).toEqual({ ...what, stdout: undefined, stderr: undefined });
}

describe('hostile text in every field, error and argument', () => {
  test.each(fewer(ENDING))(
    'removes control characters from hostile text in the output of %s',
    async (command) => {
      const service = changeable();
      prepared = await prepare(command, { change: service.wrap });
      const { kitchen, argv, stdin, env } = prepared;
      const list = ENDING.indexOf(command);
      const isExact = command === 'api';
      await fc.assert(
        fc.asyncProperty(hostileText, async (text) => {
          await poisonConfig(kitchen.home, text);
          const undo = undoer(kitchen);
          for (const [manner, change] of fewer([...manners(text).entries()], list, 4)) {
            service.become(change);
            // The first two changes leave most commands working.
            const isWorking = manner < 2;
            undo();
            for (const format of isWorking ? some(FORMATS, list) : FORMATS.slice(0, 2)) {
              // A pipe gets the body unchanged.
              if (isExact && format !== 'json') continue;
              const words = [...argv, '-o', format];
              if (isWorking) undo();
              expectClean(await kitchen.cli(words, { stdin, env }), format, { manner, words });
            }
            // Without -y, the command prompts. A command that reads stdin would wait forever in a
            // terminal.
            const asking = [...argv.filter((word) => word !== '-y'), '--debug'];
            const readsStdin = argv.some((word) => word === '-' || word.endsWith('stdin'));
            const typed = [command.split(' '), ...(readsStdin ? [] : [asking])];
            for (const words of typed) {
              if (isWorking) undo();
              const seen = await kitchen.cli(words, { stdin: CTRL_C, env, terminal: true });
              const screen = (seen.stdout + seen.stderr).replace(OWN, '').replaceAll('\n', '');
              const raw = RAW.exec(screen)?.[0];
              expect({ manner, words, raw }).toEqual({ manner, words, raw: undefined });
            }
          }
          for (const format of ['table', 'json'] as const) {
            const hostile = [[text], ['--profile', text], [`--${text}`], ['--columns', text]];
            for (const words of some(hostile, list)) {
              const typed = [...command.split(' '), ...words, '-o', format];
              expectClean(await kitchen.cli(typed, { stdin, env }), format, { typed });
            }
          }
        }),
        { numRuns: process.env.GPUCLOUD_SOAK ? 10 : 1, endOnFailure: true },
      );
    },
  );
});
