import { hostname, tmpdir } from 'node:os';
import { beforeEach, expect, type RunnerTestCase } from 'vitest';
import type { CliOptions, CliResult } from './run-cli.ts';
import { storedLines } from './stored-lines.ts';

/** A longer output only tests its size. */
const MOST = 20_000;

const HOST = hostname();

/** A session of launchd. */
const SESSION = new RegExp(`\\bgui/${process.geteuid?.()}\\b`, 'g');

const COLOUR = /\u001b\[[\d;]*m/g;

interface Command {
  text: string;
  isRunning: boolean;
  isAlone: boolean;
}

/** The commands of the running test, in the order in which they started. */
let commands: Command[] | undefined;

/**
 * Adds a command to the transcript of the running test. Call the result when the command ends, with
 * the progress and notes that it did not print, as with `--json`. `read` returns the stored files.
 */
export function toTranscript(
  argv: readonly string[],
  options: Pick<CliOptions, 'terminal' | 'columns'>,
  home: string,
  read = () => new Map<string, string>(),
) {
  const others = commands?.filter(({ isRunning }) => isRunning) ?? [];
  const command: Command = { text: '', isRunning: true, isAlone: others.length === 0 };
  // Which of several commands is first is not certain.
  for (const other of others) other.isAlone = false;
  commands?.push(command);
  const before = commands && read();
  return async (result: CliResult, unprinted: readonly string[]) => {
    command.isRunning = false;
    if (commands === undefined || before === undefined) return;
    const { terminal, columns = 100 } = options;
    const shown = terminal === true ? await onScreen(result, columns) : result;
    // The questions of a terminal stay in their order.
    const stderr = shown.stderr.trimEnd();
    const messages = terminal === true ? [stderr] : sorted(stderr.split('\n'));
    const notes = unprinted.map((text) => `(${text})`);
    const unseen = [...sorted(notes), ...sorted(storedLines(before, read()))];
    command.text = linesOf(argv, shown, messages, unseen, home);
  };
}

/** Returns what is seen in the end, without colours, spinners and earlier states of a question. */
async function onScreen(result: CliResult, columns: number): Promise<CliResult> {
  const [stdout = '', stderr = ''] = await Promise.all(
    [result.stdout, result.stderr].map(async (text) => {
      const plain = text.replaceAll(COLOUR, '');
      return plain.includes('\u001b') ? await screenOf(plain, columns) : plain;
    }),
  );
  // Its lines are wrapped and cut by the length of the path.
  const hasPath = `${stdout}${stderr}`.replaceAll(/\s/g, '').includes(tmpdir());
  return hasPath
    ? { ...result, stdout: '', stderr: '(shows a temporary path)' }
    : { ...result, stdout, stderr };
}

async function screenOf(text: string, columns: number): Promise<string> {
  const { createScreen } = await import('./screen.ts');
  const screen = createScreen({ columns, rows: 200, convertEol: true });
  await new Promise<void>((drawn) => screen.write(text, drawn));
  const all = screen.all();
  screen.dispose();
  return all;
}

/** Leaves the running test out, since what it prints depends on the computer. */
export function withoutTranscript(): void {
  commands = undefined;
}

/** Adds a line to the transcript of the running test. */
export function lineToTranscript(text: string): void {
  commands?.push({ text, isRunning: false, isAlone: true });
}

/**
 * Compares the commands of each test with its snapshot, in the test files that `isChosen` names. Days
 * and weeks of another time zone have other sums, so there it compares nothing.
 */
export function compareTranscripts(isChosen: (file: string) => boolean): void {
  const names = new Set<string | undefined>();
  const isComparable = Intl.DateTimeFormat().resolvedOptions().timeZone === 'UTC';
  beforeEach(({ task, onTestFinished }) => {
    commands = isComparable && isChosen(task.file.filepath) ? [] : undefined;
    // Runs last: worlds add what is left when they close.
    onTestFinished(() => compare(task));
  });
  function compare(task: RunnerTestCase): void {
    const texts =
      commands?.filter(({ isAlone, isRunning }) => isAlone && !isRunning).map(({ text }) => text) ??
      [];
    commands = undefined;
    if (texts.length === 0 || task.result?.state === 'fail') return;
    const { currentTestName } = expect.getState();
    // Their snapshots would depend on the order of the tests.
    if (names.has(currentTestName)) throw new Error(`two tests are named ${currentTestName}`);
    names.add(currentTestName);
    const text = texts.join('\n').replaceAll(process.cwd(), 'CWD');
    expect(inOrder(`${numbered(text)}\n`)).toMatchSnapshot();
  }
}

/** Replaces random IDs, and their first eight digits, with their order in the text. */
export function numbered(text: string): string {
  const orders = new Map<string, number>();
  return text.replaceAll(
    /\b([\da-f]{8})(-[\da-f]{4}){0,3}(-[\da-f]{12})?\b/g,
    (id: string, start: string) => {
      // Those of the tests themselves stay.
      if (/-4[23]{3}-8333-/.test(id)) return id;
      if (!orders.has(start)) orders.set(start, orders.size + 1);
      return `${id === start ? 'id' : 'ID'}${orders.get(start)}`;
    },
  );
}

/** Sorts the requests of each command, since some are sent at once. */
function inOrder(text: string): string {
  return text.replaceAll(/(^> .*\n)+|(^< \/.*\n)+/gm, (requests) =>
    requests
      .split(/(?<=\n)/)
      .sort()
      .join(''),
  );
}

/** Writes each row of an indented JSON list, and each property of an object, in one line. */
function compact(text: string): string {
  const isList = text.startsWith('[\n') && text.endsWith('\n]\n');
  // A list that a failure cut stays open.
  if (!isList && !(text.startsWith('{\n') && text.endsWith('\n}\n'))) return text;
  const json: unknown[] | object = JSON.parse(text);
  if (Array.isArray(json)) return json.map((row) => JSON.stringify(row)).join('\n');
  return Object.entries(json)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join('\n');
}

/** Messages about several instances come in no certain order. Random IDs and ports don't count. */
function sorted(lines: readonly string[]): string[] {
  const keyed = lines.map((line): [string, string] => [
    line.replaceAll(
      /([\da-f]{8}-[\da-f]{4}-4[23]{3}-8333-[\da-f]{12})|[\da-f]{4,}/g,
      (_, own) => own ?? '#',
    ),
    line,
  ]);
  return keyed.sort(([a], [b]) => (a < b ? -1 : Number(a > b))).map(([, line]) => line);
}

function linesOf(
  argv: readonly string[],
  { code, stdout, requests }: CliResult,
  messages: readonly string[],
  unseen: readonly string[],
  home: string,
): string {
  const reads = requests.filter(({ method }) => method === 'GET').map(({ path }) => `< ${path}`);
  const changes = requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path, body }) => `> ${method} ${path} ${JSON.stringify(body) ?? ''}`);
  return masked(
    [
      `$ gpucloud ${argv.join(' ')}`,
      ...changes,
      ...sorted([...new Set(reads)]),
      stdout,
      ...messages,
      ...unseen,
      `exit ${code}`,
    ]
      .filter((part) => part !== '')
      .map((part) => (part.length > MOST ? `(${part.length} characters)` : compact(part)))
      .map((part) => part.trimEnd())
      .join('\n'),
    home,
  );
}

/** Replaces what differs in each run: addresses, folders, keys and secrets. */
export function masked(text: string, home = '/nowhere'): string {
  return (
    text
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
      .replaceAll(/(127\.0\.0\.1|localhost|port|-p)(?::|%3a| )\d{4,5}\b/g, '$1 PORT')
      .replaceAll(home, 'HOME')
      .replaceAll(tmpdir(), 'TMP')
      .replaceAll(`"host":"${HOST}"`, '"host":"HOST"')
      .replaceAll(SESSION, 'gui/UID')
      .replaceAll(/\.[\da-z]+\.tmp\b/g, '.….tmp')
      .replaceAll(/(TMP\/[a-z-]+-)\w{6}\b/g, '$1…')
      .replaceAll(/\bAAAA[\w+/]{30,}=*/g, 'KEY')
      .replaceAll(/\bMC4CAQAw[\w+/=]+/g, 'PRIVATE KEY')
      .replaceAll(/SHA256:[\w+/]{8,43}…?/g, 'SHA256')
      // Not the number of 20 digits in the tests of `api`.
      .replaceAll(/\b(?:[\da-f]{48}|(?!1234567890)[\da-f]{20})\b/g, 'TOKEN')
      .replaceAll(/\bsvc_sk_sandbox_[\da-f]{4,}/g, 'SECRET')
      .replaceAll(/\bOpenSSH_(?!\S+ Test)[^"\n]*/g, 'OpenSSH VERSION')
      // The clock goes on while a view is drawn.
      .replaceAll(/^(Read at) \d\d:\d\d:\d\d/gm, '$1 TIME')
      // Versions of Node differ.
      .replaceAll(/^(< )?keep-alive: .*\n/gm, '')
      .replaceAll(/\bE[A-Z]{4,}: [a-z ]+, [a-z]+ '[^']*'/g, 'SYSTEM ERROR')
      // Most text is ASCII, which needs no look at Unicode's properties.
      .replaceAll(/[^\n -~]+/g, (part) =>
        part.replaceAll(/\p{C}/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`),
      )
  );
}
