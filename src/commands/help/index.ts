import { globals } from '../../command-line/globals.ts';
import { TOPICS, type Topic } from '../../command-line/help.ts';
import { ENVIRONMENT } from '../../command-line/reference/environment.ts';
import { findCommand } from '../../command-line/reference/find-command.ts';
import { EXIT_CODES } from '../../command-line/reference/index.ts';
import { verb } from '../../command-line/verb.ts';
import { FORMATS, type Format } from '../../output/output.ts';
import { labelledText } from '../../output/table/layout.ts';
import { paragraph } from '../../output/width.ts';

/** Returns a topic's text in lines of at most 80 columns. */
function topicText(topic: Topic): string {
  return TEXTS[topic]();
}

const TEXTS: Readonly<Record<Topic, () => string>> = {
  options,
  'exit-codes': exitCodes,
  environment,
  output,
  scripting: () => SCRIPTING,
  deadlines: () => DEADLINES,
};

function options(): string {
  const flags = globals().map(({ flags, about }) => [flags.replace(/^--/, '    --'), about]);
  return `Global options, before or after the command:

${table([...flags, ['-h, --help', 'show help for a command'], ['-V, --version', 'show the version']])}`;
}

function exitCodes(): string {
  const rows = EXIT_CODES.map(({ exit_code, code, meaning }) => [
    String(exit_code),
    code ?? '',
    meaning,
  ]);
  return `Exit codes, and the "code" of the error in JSON:

${table(rows)}
A command on several resources prints one error for each failure and exits with
the worst code. After exit code 7, an instance may exist and cost money: run
"gpucloud instances list" before trying again.

"instances ssh" and "instances scp" exit with the code of ssh: that of the
remote command, or 255 if ssh itself failed.
`;
}

function environment(): string {
  const rows = ENVIRONMENT.flatMap(({ variables, flag, meaning }) => {
    const [first = '', ...others] = variables;
    const wins = flag === undefined ? meaning : `${meaning}; ${flag} overrides it`;
    return [[first, wins.replaceAll('`', '')], ...others.map((name) => [name, ''])];
  });
  return `A flag overrides the environment, which overrides the profile. The variables:

${table(rows)}
gpucloud doesn't read settings from the current folder.
`;
}

const FORMAT_WORDS: Readonly<Record<Format, string>> = {
  table: 'for people; in a pipe, full values without colours',
  json: 'one document; a list is always an array, [] if empty',
  jsonl: 'one JSON value per line, printed as it arrives',
  csv: 'RFC 4180 with a header and LF line endings',
  tsv: 'tab-separated with a header; tabs, line breaks and backslashes are escaped',
  yaml: 'the same data as json',
  id: 'only IDs, one per line',
};

function output(): string {
  return `stdout contains only the result. Notes, prompts, progress and errors go to
stderr.

-o, --output FORMAT (--json is -o json; -q is -o id without notes and progress):

${table(FORMATS.map((format) => [format, FORMAT_WORDS[format]]))}
--columns a,b      print these columns, in this order; see --help of the command
--sort [-]column   sort by this column; - reverses the order
--no-header        omit the header of tables, csv and tsv
--query JMESPATH   print what the expression selects from the JSON result

JSON contains the service's data, including unknown fields. Money is a decimal
string. Times are ISO 8601 in UTC; people see local and relative times. Integers
beyond 2^53 are strings of digits. Secrets are masked in every format unless
--show-secrets is given. Terminal control characters are removed before a person
sees a value.

If a field has another type than documented, a warning names it and the exit
code stays 0: a number becomes text, anything else counts as missing. Without an
ID or a status, the command exits with 10.
`;
}

const SCRIPTING = `Guarantees for scripts:

- stdout contains only the result: "gpucloud help output".
- The exit code shows what happened: "gpucloud help exit-codes".
- With --json an error is one object on stderr: {"error": {"code", "message",
  "http_status", "hint", "retryable", "resource", "may_be_billing"}}.
- Commands prompt only in a terminal, and not with --no-input or CI set. When
  not interactive, a command that needs a confirmation exits with 2 before any
  request; --yes confirms.
- -q prints IDs, and "-" reads them from stdin:
    gpucloud instances list -q | gpucloud instances stop -
- To ensure that an instance is terminated, save its ID before you wait:
    set -e
    id=$(gpucloud instances create job-1 --offer ID --image ID -q)
    trap 'gpucloud instances terminate "$id" --yes' EXIT
    gpucloud instances wait "$id"
- The key comes from GPUCLOUD_API_KEY or a profile, never from an argument.
- To test, use the profile "sandbox": it simulates the service on this computer.
- "gpucloud commands --json" lists every command, flag, column and exit code.
  New versions add to it and to JSON results, and remove nothing.
`;

const DEADLINES = `A deadline terminates an instance at a time that you choose.

Once per computer and profile, let the scheduler enforce deadlines:
  gpucloud instances reap --install
Without a scheduler, run a loop in the background, again after each reboot:
  nohup sh -c 'while :; do gpucloud --profile NAME instances reap --every 5m
    sleep 300; done' >/dev/null 2>&1 &
Then set a deadline:
  gpucloud instances create trainer --terminate-after 4h
  gpucloud instances expire trainer --at 18:00
  gpucloud instances expire --all --at 'fri 18:00'
  gpucloud instances expire trainer --never
Or set an idle rule for instances that nobody uses:
  gpucloud instances create lab --if-idle 45m
See when each instance ends:
  gpucloud status

- A computer that is off or asleep doesn't terminate instances. Deadlines are
  stored on the computer that set them.
- Termination deletes the disk of the instance and keeps its cloud drive. It
  doesn't ask for confirmation: setting the deadline was the consent.
- Deadlines use the service's clock. If it differs by more than 5 minutes from
  this computer's clock, a second response must agree. Otherwise that run
  doesn't terminate instances.
- The next run tries a failed termination again.
- "expire --all" never moves a deadline later. Name the instance to do that.
- "create" and "reorder" reject a deadline that nothing enforces, unless you add
  --unenforced. "expire" sets the deadline and warns.
- An idle rule checks GPU, CPU, network, terminals and jobs. Values that can't
  be read count as use.
- Only "instances reap" terminates. Other commands report overdue instances.
`;

/** Separates columns by two spaces. Wraps the last column. */
function table(rows: readonly (readonly string[])[]): string {
  const [first = []] = rows;
  const widths = first.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  const labelled = rows.map((row) => {
    const before = row.slice(0, -1).map((text, at) => text.padEnd(widths[at] ?? 0));
    const lines = (room: number) => paragraph(row.at(-1) ?? '', room);
    return { label: `  ${before.join('  ')}`, lines };
  });
  return labelledText(labelled, 80);
}

/** Prints the help of a command (`gpucloud help instances create`) or a topic. */
export const help = verb({
  summary: 'Show help for a command or topic',
  local: true,
  notes: `Topics:\n${topicLines()}`,
  examples: ['gpucloud help', 'gpucloud help instances create', 'gpucloud help exit-codes'],
  completes: { command: { topics: TOPICS.map(({ name }) => name) } },
  takes: (command) => command.argument('[command...]', 'a command or topic'),
  async run(context, words, _flags, { runtime }) {
    const topic = TOPICS.find(({ name }) => words.length === 1 && words[0] === name);
    if (topic === undefined) {
      const names = TOPICS.map(({ name }) => name).join(', ');
      const hint = `"gpucloud --help" lists the commands; the topics are ${names}`;
      findCommand(runtime.wholeTree(), words, hint).outputHelp();
    } else {
      await context.out.text(topicText(topic.name));
    }
  },
});

function topicLines(): string {
  const width = Math.max(...TOPICS.map(({ name }) => name.length));
  return TOPICS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n');
}
