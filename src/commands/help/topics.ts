import { Help } from '../../cli/command.ts';
import { globals } from '../../cli/globals.ts';
import type { Topic } from '../../cli/help.ts';
import { ENVIRONMENT } from '../../cli/reference/environment.ts';
import { EXIT_CODES } from '../../cli/reference/index.ts';
import type { Format } from '../../output/output.ts';
import { FORMATS } from '../../output/output.ts';

/** The text of a topic, in lines that fit a terminal of 80 columns. */
export function textOf(topic: Topic): string {
  return TEXTS[topic]();
}

const TEXTS: Readonly<Record<Topic, () => string>> = {
  options,
  'exit-codes': exitCodes,
  environment,
  output,
  scripting: () => SCRIPTING,
};

function options(): string {
  const flags = globals().map(({ flags, about }) => [flags.replace(/^--/, '    --'), about]);
  return `Options that every command takes, before or after its words:

${table([...flags, ['-h, --help', 'show help for a command'], ['-V, --version', 'show the version']])}`;
}

function exitCodes(): string {
  const rows = EXIT_CODES.map(({ exit_code, code, meaning }) => [
    String(exit_code),
    code ?? '',
    meaning,
  ]);
  return `Exit codes, with the "code" that an error has in JSON:

${table(rows)}
Where a command acts on several things, each gets its own error and the exit code
is that of the gravest. After 7 a machine may exist and cost money: look with
"gpucloud instances list" before you ask again.

"instances ssh" and "instances scp" pass on the exit code of the program that they
start: that of the remote command, and 255 where ssh itself failed.
`;
}

function environment(): string {
  const rows = ENVIRONMENT.flatMap(({ variables, flag, meaning }) => {
    const words = meaning.replaceAll('`', '');
    const [first = '', ...others] = variables;
    const wins = flag === undefined ? words : `${words}; ${flag} wins over it`;
    return [[first, wins], ...others.map((name) => [name, ''])];
  });
  return `Flag, then environment, then profile, then default. The variables:

${table(rows)}
Nothing is read from the current folder.
`;
}

const FORMAT_WORDS: Readonly<Record<Format, string>> = {
  table: 'for people; in a pipe the same columns, whole and without colours',
  json: 'one document; a list is always an array, [] when empty',
  jsonl: 'one JSON value a line, written as it comes',
  csv: 'RFC 4180, with a head',
  tsv: 'tabs, with a head; a tab, line end or backslash inside is escaped',
  yaml: 'the same data as json',
  id: 'ids alone, one a line',
};

function output(): string {
  return `stdout carries the result and nothing else. Notes, prompts, progress and errors go
to stderr.

-o, --output FORMAT (--json is -o json; -q is -o id without notes and progress):

${table(FORMATS.map((format) => [format, FORMAT_WORDS[format]]))}
--columns a,b      these columns, in this order; a command's --help names them
--sort [-]column   sorted by one; - turns the order round
--no-header        no head above tables, csv and tsv
--csv-safe         formulas in csv as text, for spreadsheets
--query JMESPATH   what an expression finds in the JSON form

JSON is the service's own data: its names, its fields, unknown ones too. Money is a
decimal string, so that nothing rounds it; times are ISO 8601 in UTC. People see
local and relative times. A number that would be rounded (an integer beyond 2^53) is
a string of its digits. Secrets are masked in every format; --show-secrets shows
them. Terminal controls in values never reach a terminal.

An answer with a field of another type than documented is shown as far as it can be
read, and a warning on stderr says which: a number for a text becomes a text,
anything else counts as missing. The exit code stays 0. Without an id or a status
there is nothing to show: exit 10.
`;
}

const SCRIPTING = `What a script can rely on:

- stdout is the result alone, whatever happens: "gpucloud help output".
- The exit code tells what happened: "gpucloud help exit-codes".
- With -o json or jsonl each line of stderr is one JSON object, a warning as it
  happens and the error last: {"warning": {"code", "message"}} and {"error":
  {"code", "message", "http_status", "hint", "retryable", "resource",
  "may_be_billing"}}.
- Nothing is asked off a terminal, with --no-input or with CI set. What would need
  a confirmation wants --yes, and is exit 2 without, before any request.
- Ids come out with -q and go in with "-", which reads them from stdin:
    gpucloud instances list -q | gpucloud instances stop -
- To rent, and to end it whatever happens, take the id before you wait:
    set -e
    id=$(gpucloud instances create job-1 --offer ID --image ID -q)
    trap 'gpucloud instances terminate "$id" --yes' EXIT
    gpucloud instances wait "$id"
- The key comes from GPUCLOUD_API_KEY or a profile, never from an argument.
- The profile "sandbox" is the whole service on this computer: test there.
- "gpucloud commands --json" is every command, flag, column and exit code as data.
  Things are added to it and to JSON results; none is taken away or renamed.

docs/scripting.md in the repository has whole scripts: rent and run a job, CI, a
cron job, a check of the budget.
`;

/** Columns with two blanks between, the last one wrapped under itself. */
function table(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(...rows.map(({ length }) => length));
  const widths = Array.from({ length: columns - 1 }, (_, at) =>
    Math.max(...rows.map((row) => (row[at] ?? '').length)),
  );
  const indent = widths.reduce((sum, width) => sum + width + 2, 2);
  return rows
    .map((row) => {
      const before = widths.map((width, at) => `${(row[at] ?? '').padEnd(width)}  `).join('');
      const wrapped = new Help().boxWrap(row[columns - 1] ?? '', 80 - indent);
      const [first = '', ...others] = wrapped.split('\n');
      const lines = [`  ${before}${first}`, ...others.map((line) => ' '.repeat(indent) + line)];
      return lines.map((line) => `${line.trimEnd()}\n`).join('');
    })
    .join('');
}
