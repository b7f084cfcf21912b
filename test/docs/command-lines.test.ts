import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Computer, createComputer } from '../support/program.ts';
import { IMAGE, OFFER } from '../support/sandbox-ids.ts';
import { commandLinesOf } from './command-lines.ts';

/**
 * Runs every command line of README.md, docs/*.md and the skill as the reader pastes it. Each
 * document runs in one bash, with the built program and a fresh sandbox with a fast clock. A page
 * prepares nothing that the reader does not see.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCUMENTS = [
  'README.md',
  'skills/gpucloud/SKILL.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
/** Translated pages have the command lines of the page that they translate. */
const TRANSLATED = readdirSync(join(ROOT, 'docs/ru'));

const ADDRESS = 'https://api.example.com/v1';

/** Serves a sandbox as the reader's account of a real service. */
const SERVE_ACCOUNT = [
  'exec 3< <("$GPUCLOUD_NODE" "$GPUCLOUD_PROGRAM" sandbox serve --json --speed 600 --state ~/account.json)',
  'trap "kill $SSH_AGENT_PID $!" EXIT',
  `IFS='"' read -r _ _ _ url _ _ _ key _ <&3`,
];

/** Replaces the placeholders of a line with the served account, whose key a person would type. */
function inAccount(line: string): string {
  return line
    .replace(ADDRESS, '"$url" --key-stdin <<< "$key"')
    .replace('OFFER_ID', OFFER)
    .replace('IMAGE_ID', IMAGE);
}

let computer: Computer;
beforeEach(async () => {
  computer = await createComputer();
});
afterEach(() => computer.remove());

const walkthroughOf = (name: string) => commandLinesOf(readFileSync(join(ROOT, name), 'utf8'));
const WALKTHROUGHS = DOCUMENTS.map((name) => ({ name, ...walkthroughOf(name) }));

describe.each(WALKTHROUGHS.filter(({ steps }) => steps.length > 0))('$name', ({ name, steps }) => {
  const tools = needs(
    ...(['jq', 'parallel', 'ansible'] as const).filter((tool) =>
      steps.some(({ text }) => new RegExp(`\\b${tool}\\b`).test(text)),
    ),
  );
  test('runs every command line of the page as printed', {
    timeout: 120_000,
    ...tools,
  }, async () => {
    const ended = join(computer.home, 'ended');
    const script = [
      'exec < /dev/null',
      'gpucloud() { "$GPUCLOUD_NODE" "$GPUCLOUD_PROGRAM" "$@" $yes; }',
      'export GPUCLOUD_PROFILE=sandbox',
      // Uses an agent, since ssh looks for keys in the home folder of the account.
      'mkdir -m 700 ~/.ssh; ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/id_ed25519',
      'eval "$(ssh-agent)" > /dev/null; trap "kill $SSH_AGENT_PID" EXIT',
      'ssh-add -q ~/.ssh/id_ed25519',
      // Readers work in a folder of their own: run refuses to copy the home folder.
      'mkdir ~/project; cd ~/project',
      'yes=--yes; gpucloud sandbox reset --speed 600 --balance 100000 > /dev/null',
      ...(steps.some(({ text }) => text.includes(ADDRESS)) ? SERVE_ACCOUNT : []),
      ...steps.map(
        ({ text, yes }, at) =>
          `yes=${yes ? '--yes' : ''}; echo '--- ${at}' >&2; ${inAccount(text)}\necho "${at} $?" >> "${ended}"`,
      ),
    ].join('\n');
    const { stderr } = await computer.bash(script, { env: { TERM: 'dumb' } });
    const codes = new Map(
      (await readFile(ended, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => {
          const [at = '', code = ''] = line.split(' ');
          return [Number(at), Number(code)];
        }),
    );
    const said = stderr.split(/^--- \d+$/m).slice(1);
    const wrong = steps.flatMap(({ line, text, exit }, at) => {
      const code = codes.get(at);
      return code === exit ? [] : [{ line: `${name}:${line}`, text, code, said: said[at] }];
    });
    // A CI log shows only the message.
    expect(wrong, JSON.stringify(wrong)).toEqual([]);
  });
});

test.each(TRANSLATED)('has the same command lines in docs/ru/%s as in docs', (name) => {
  const linesOf = (folder: string) =>
    walkthroughOf(`${folder}/${name}`).steps.map(({ line: _, ...step }) => step);
  expect(linesOf('docs/ru')).toEqual(linesOf('docs'));
});

test('requires a reason for each block that is not run', () => {
  const blocks = WALKTHROUGHS.flatMap(({ notRun }) => notRun);
  expect(blocks.filter(({ reason }) => !/^[a-z].{15,}$/s.test(reason))).toEqual([]);
  expect(blocks.length).toBeGreaterThan(5);
});

describe('commandLinesOf', () => {
  test('reads prompts, continued lines, exit codes, files to save and reasons', () => {
    const text = [
      '# A page',
      '```console',
      '$ gpucloud one \\',
      '    --two',
      'printed',
      '$ gpucloud three',
      '```',
      'Save this example as `box.yaml`, then run:',
      '',
      '```yaml',
      'a: 1',
      '```',
      '<!-- exit 7 -->',
      '<!-- a person answers yes -->',
      '```console',
      '$ gpucloud four',
      '```',
      '',
      '<!-- not run: it needs an account -->',
      '```console',
      '$ gpucloud five',
      '```',
      '```sh',
      '$ not a console',
      '```',
      '',
      '   <!-- exit 3 -->',
      '   ```shell',
      '   gpucloud six \\',
      '     --pasted',
      '   ```',
      '',
    ].join('\n');
    expect(commandLinesOf(text)).toEqual({
      steps: [
        { line: 3, text: 'gpucloud one \\\n    --two', yes: false, exit: 0 },
        { line: 6, text: 'gpucloud three', yes: false, exit: 0 },
        { line: 8, text: "cat > box.yaml <<'END'\na: 1\nEND", yes: false, exit: 0 },
        { line: 16, text: 'gpucloud four', yes: true, exit: 7 },
        { line: 29, text: 'gpucloud six \\\n     --pasted', yes: false, exit: 3 },
      ],
      notRun: [{ line: 21, reason: 'it needs an account' }],
    });
  });
});
