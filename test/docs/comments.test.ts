import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commentsAtPrompt } from './command-lines.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Every page, with the generated ones, which show the examples of `--help`. */
const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'skills/gpucloud/SKILL.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

test('shows no comments in commands to paste, since zsh passes them on as arguments', () => {
  const found = PAGES.flatMap((page) =>
    commentsAtPrompt(readFileSync(join(ROOT, page), 'utf8')).map(
      ({ line, text }) => `${page}:${line}: ${text}`,
    ),
  );
  expect(found).toEqual([]);
});

test.each([
  ['console', '$ gpucloud status   # show costs', 'gpucloud status   # show costs'],
  ['console', '$ gpucloud run \\\n    --yes # run it', 'gpucloud run \\\n    --yes # run it'],
  ['console', "$ gpucloud status # it's free", "gpucloud status # it's free"],
  ['shell', '# show costs\ngpucloud status', '# show costs'],
  ['sh', 'gpucloud status;# show costs', 'gpucloud status;# show costs'],
  ['bash', "gpucloud run -- sh -c '# a' # b", "gpucloud run -- sh -c '# a' # b"],
  ['', 'gpucloud status # show costs', 'gpucloud status # show costs'],
])('finds a comment in a block of language %j: %j', (language, body, text) => {
  const page = `\`\`\`yaml\na: 1 # one\n\`\`\`\nText.\n\n\`\`\`${language}\n${body}\n\`\`\`\n`;
  expect(commentsAtPrompt(page)).toEqual([{ line: 7, text }]);
});

test.each([
  ['console', '$ gpucloud status\n# printed'],
  ['sh', '#!/bin/sh\ngpucloud status # show costs'],
  ['sh', `gpucloud run -- sh -c 'make # all'; echo "a \\" # b" \\# $# a#b`],
  ['yaml', 'a: 1 # one'],
  ['text', 'a # b'],
])('finds no comment in a block of language %j: %j', (language, body) => {
  expect(commentsAtPrompt(`\`\`\`${language}\n${body}\n\`\`\`\n`)).toEqual([]);
});
