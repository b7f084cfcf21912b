import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

// Matches syntax that bash 3.2, the version on macOS, lacks. Debian and npm don't offer bash 3.2,
// so the test searches the script.
const NEWER: readonly (readonly [RegExp, string])[] = [
  [/\b(?:declare|local|typeset)\s+-\w*[Agnlu]/, 'local -A names'],
  [/\$\{!?\w+(?:\[[^\]]*\])?(?:\^|,|@\w)/, `\${word,,}`],
  [/\$\{\w+(?:\[@\])?:[^}]*:\s*-\d/, `\${word:0:-1}`],
  [/\$\{?\w+\[\(?-\d/, `\${words[-1]}`],
  [/\b(?:mapfile|readarray|coproc)\b/, 'mapfile -t lines'],
  [/\s\|&\s|&>>|;;?&\s/, 'a |& b'],
  [/\[\[ -[vR] /, '[[ -v name ]]'],
  [/printf -v ['"]?\w+\[/, 'printf -v words[1] x'],
  [/%\([^)]*\)T|\$\{?EPOCH/, "printf '%(%s)T'"],
  [/\bread\s+(?:-\w+\s+)*-\w*[iN]|\bread [^\n]*-t 0?\./, 'read -N 1 word'],
  [/\bcomplete\s+[^\n]*-[DEI]\b/, 'complete -D -F f'],
  [/\{\w+\.\.\w+\.\.\w+\}/, '{1..9..2}'],
  [/\bwait -n\b|\bshopt [^\n]*(?:globstar|autocd|lastpipe)/, 'wait -n'],
  [/\$'[^']*\\[uU]/, "$'\\u00e4'"],
];

/** Strips comments and the line that checks the bash version. */
const script = readFileSync(new URL('../../completions/gpucloud.bash', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => !/^\s*#/.test(line) && !line.includes('BASH_VERSINFO[0] < 4)) || compopt'))
  .join('\n');

test.each(NEWER)('generates a bash script without %s, which bash 3.2 lacks', (pattern, example) => {
  expect(example).toMatch(pattern);
  expect(pattern.exec(script)?.[0]).toBeUndefined();
});

test('calls compopt only through a function that checks the bash version', () => {
  expect(script).toContain('__gpucloud_compopt -o nospace');
  expect(script).not.toMatch(/(?<!__gpucloud_)\bcompopt\b/);
});
