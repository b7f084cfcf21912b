import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandsOf } from '../../src/command-line/reference/index.ts';
import { asDiff, changedLines } from '../support/changed-lines.ts';
import { sent } from '../support/service.ts';
import { numbered } from '../support/transcript.ts';
import { columnsOf, commandsWhose, type Prepared, prepare, tree } from './tree.ts';

/**
 * With these a command goes on until it is stopped, or connects to an address that nobody has. The
 * schema is a file that another test compares.
 */
const ENDLESS =
  /^--(watch|follow|every|schema|wait=ssh|for=(?!active))|^instances (scp|ssh|tunnel) --wait$/;

/** A value of each type. */
const VALUES: Readonly<Record<string, string>> = {
  duration: '90m',
  list: 'deposit,refund',
  number: '7',
  path: '$FILE',
  time: '2026-01-16T08:00:00Z',
};

/** Values of flags that need more than a text. */
const TEXTS: Readonly<Record<string, string>> = {
  '--drive': 'data',
  '--env': 'COUNT=1',
  '--exclude': '*.tmp',
  '--fail-below': '2h',
  '--fetch': 'out:out',
  '--field': 'name=b',
  '--max-instances': '7',
  '--min-count': '1',
  '--count': '2',
  '--on': 'trainer',
  '--port': '81:80/udp,name=web,main',
  '--raw-field': 'name=b',
  '--rescue': 'out:/out',
  '--since': '2026-01-15T08:00:00Z',
  '--size': '20',
  '--ssh-option': 'Port=2222',
  '--tail': '1',
  '--template': 'jupyterlab',
  '--volume': '/a:/b',
};

const CONTAINER = ['--docker-image=nginx'];
const DEADLINE = ['--terminate-after=2h', '--unenforced'];

/** Flags of `instances create` and `reorder` that need others. */
const WITH: Readonly<Record<string, readonly string[]>> = {
  '--docker-command': CONTAINER,
  '--env': CONTAINER,
  '--if-idle': ['--unenforced'],
  '--min-count': ['--count=2'],
  '--port': CONTAINER,
  '--rescue': DEADLINE,
  '--rescue-budget': ['--rescue=out:/out', ...DEADLINE],
  '--shm-size': CONTAINER,
  '--terminate-after': ['--unenforced'],
  '--terminate-at': ['--unenforced'],
  '--volume': CONTAINER,
};

const RENTS = new Set(['instances create', 'instances reorder']);

const FACTS = new Map(commandsOf(tree, tree).map((facts) => [facts.command, facts]));

/** Returns the command lines of one flag: each choice, each form. */
function wordsOf(flag: NonNullable<ReturnType<typeof FACTS.get>>['flags'][number]): string[][] {
  const { long, type, choices, value_optional: isOptional } = flag;
  if (type === 'boolean') return [[long]];
  const value = type === 'number' ? VALUES.number : (TEXTS[long] ?? VALUES[type]);
  const values = choices ?? [value ?? 'other'];
  return [...(isOptional ? [[long]] : []), ...values.map((value) => [`${long}=${value}`])];
}

/** Returns a request without IDs, which are random. */
const shape = (request: string) =>
  request.replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '#');

/** Runs a command with more words, and returns all that it does. */
async function done(prepared: Prepared, more: readonly string[]): Promise<string> {
  const { kitchen, argv, stdin, env } = prepared;
  const [long] = more[0]?.split('=') ?? [];
  const given = argv.indexOf(long ?? 'none');
  const file = join(kitchen.home, 'file');
  await writeFile(file, 'COUNT=1\n');
  const rest = given < 0 ? argv : argv.toSpliced(given, 2);
  // The words after "--" are a command.
  const at = rest.includes('--') ? rest.indexOf('--') : rest.length;
  const words = rest.toSpliced(at, 0, ...more.map((word) => word.replace('$FILE', file)));
  const { code, stdout, stderr, requests } = await kitchen.cli(words, { stdin, env });
  const bodies = requests
    .filter(({ method }) => method !== 'GET')
    .map(({ body }) => JSON.stringify(body));
  // Some requests are sent at once.
  const lines = sent(requests).sort((a, b) =>
    shape(a) < shape(b) ? -1 : Number(shape(a) > shape(b)),
  );
  const text = [...lines, ...bodies, stdout, stderr, `exit ${code}`].join('\n');
  return numbered(text)
    .replaceAll(kitchen.service.url, 'URL')
    .replaceAll(kitchen.home, 'HOME')
    .replaceAll(kitchen.sandboxFile, 'STATE')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/\b[\da-f]{48}\b/g, 'TOKEN')
    .replaceAll(/svc_sk_sandbox_[\da-f]+/g, 'KEY')
    .replaceAll(/\n{2,}/g, '\n');
}

/** A failure has nothing of the usual result, so only what it prints is shown. */
function difference(usual: string, other: string): string {
  const changed = changedLines(usual, other);
  return changed.gone.includes('exit 0')
    ? changed.added.map((line) => `  ${line}\n`).join('')
    : asDiff(changed);
}

const COMMANDS = commandsWhose(
  ({ startsItself, notJson }) => !startsItself && notJson === undefined,
);

test.each(COMMANDS)('shows what each flag changes: %s', async (command) => {
  const columns = columnsOf(command).join();
  const shapes = ['--quiet', ...(columns === '' ? [] : [`--columns=${columns}`])];
  const own = (FACTS.get(command)?.flags ?? []).flatMap(wordsOf);
  const all = [...own, ...shapes.map((shape) => [shape])];
  const flags = all.filter(
    ([word = '']) => !ENDLESS.test(word) && !ENDLESS.test(`${command} ${word}`),
  );
  // A command that changes something gets a sandbox of its own each time.
  const isReading = command === 'run' || FACTS.get(command)?.tool?.allow === 'read';
  let prepared = await prepare(command);
  const usual = await done(prepared, []);
  let text = '';
  for (const [word = ''] of flags) {
    const others = RENTS.has(command) ? (WITH[word.split('=', 1)[0] ?? ''] ?? []) : [];
    const words = [word, ...others];
    if (!isReading) {
      await prepared.kitchen.close();
      prepared = await prepare(command);
    }
    text += `${words.join(' ')}\n${difference(usual, await done(prepared, words))}`;
  }
  await prepared.kitchen.close();
  await expect(`${usual}\n${text}`).toMatchFileSnapshot(
    `flags/${command.replaceAll(' ', '-')}.txt`,
  );
});
