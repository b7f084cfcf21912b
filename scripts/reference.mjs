// Creates the command reference from `gpucloud commands --json`: Markdown, man pages and a schema.
import { stderrSchema } from './stderr-schema.mjs';

/** Returns the text of each reference file by its path in the repository. */
export function referenceFiles(reference) {
  const files = new Map();
  files.set('docs/commands/README.md', markdownIndex(reference));
  files.set('man/gpucloud.1', manIndex(reference));
  files.set('schemas/stderr.schema.json', `${JSON.stringify(stderrSchema(reference), null, 2)}\n`);
  for (const group of reference.groups) {
    const commands = commandsOf(group, reference);
    files.set(`docs/commands/${group.name}.md`, markdownOf(group, commands));
    files.set(`man/gpucloud-${group.name}.1`, manOf(group, commands, reference));
  }
  return files;
}

/** The `man` entry of package.json. */
export function manPages(reference) {
  return [...referenceFiles(reference).keys()]
    .filter((path) => path.startsWith('man/'))
    .map((path) => `./${path}`)
    .sort();
}

function commandsOf(group, { commands }) {
  return commands.filter(({ words }) => words[0] === group.name);
}

function chaptersOf({ groups }) {
  return [...new Set(groups.map(({ heading }) => heading))].map((heading) => ({
    heading,
    groups: groups.filter((group) => group.heading === heading),
  }));
}

/** Formats a flag's value as in the help: `<file>`, `[=target]`. */
function valueTerm({ value, value_optional }) {
  if (value === null) return '';
  return value_optional ? `[=${value}]` : ` <${value}>`;
}

function flagTerm(flag) {
  const names = flag.short === null ? flag.long : `${flag.short}, ${flag.long}`;
  return `${names}${valueTerm(flag)}`;
}

function argumentTerm({ name, required, variadic }) {
  const shown = variadic ? `${name}...` : name;
  return required ? `<${shown}>` : `[${shown}]`;
}

/**
 * Joins the description, the choices and the default. Omits those that the description contains.
 */
function wordsOf({ description, default: standard, choices }) {
  const words = [description];
  if (choices !== null && !choices.every((choice) => mentions(description, choice))) {
    words.push(`one of ${choices.join(', ')}`);
  }
  if (standard !== null && !description.includes('(default: ')) {
    words.push(`default: ${standard}`);
  }
  return words.filter((word) => word !== '').join('; ');
}

function mentions(text, word) {
  return text.toLowerCase().includes(word.toLowerCase());
}

/** Splits notes into paragraphs and verbatim lines, which are indented. */
function blocksOf(notes) {
  const blocks = [];
  for (const line of (notes ?? '').split('\n')) {
    const kind = line.startsWith('  ') ? 'lines' : 'text';
    const last = blocks.at(-1);
    if (line === '') blocks.push({ kind: 'gap', lines: [] });
    else if (last?.kind === kind) last.lines.push(line);
    else blocks.push({ kind, lines: [line] });
  }
  return blocks.filter(({ kind }) => kind !== 'gap');
}

// Markdown

const GENERATED = 'Generated from the program by `npm run generate`.';

function md(text) {
  return text
    .replace(/[\\`*_[\]|]/g, '\\$&')
    .replaceAll('<', '&lt;')
    .replaceAll('\n', ' ');
}

function code(text) {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function table(head, rows) {
  if (rows.length === 0) return '';
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n\n`;
}

function fence(lines, language = '') {
  return `\`\`\`${language}\n${lines.join('\n')}\n\`\`\`\n\n`;
}

function anchor(heading) {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');
}

function markdownIndex(reference) {
  const { summary, global_flags, exit_codes, warnings, environment, topics, formats } = reference;
  const chapters = chaptersOf(reference).map(({ heading, groups }) => {
    const rows = groups.flatMap((group) =>
      commandsOf(group, reference).map(({ command, summary: words }) => [
        `[${command}](${group.name}.md#${anchor(`gpucloud ${command}`)})`,
        md(words),
      ]),
    );
    return `### ${heading}\n\n${table(['command', ''], rows)}`;
  });
  return `# The commands of gpucloud

${GENERATED} ${md(summary)}

\`gpucloud help COMMAND\` shows the same in the terminal. \`man gpucloud\` does if the man pages are
installed. \`gpucloud commands --json\` prints [everything as data](#the-tree-as-data).

## Commands

${chapters.join('')}## Global flags

Every command takes these flags, before or after its words.

${flagTable(global_flags)}The formats are ${formats.map(code).join(', ')}.

## Exit codes

${table(
  ['exit code', '`code` in JSON', 'meaning'],
  exit_codes.map(({ exit_code, code: name, meaning }) => [
    exit_code,
    name === null ? '' : code(name),
    md(meaning),
  ]),
)}## stderr in JSON modes

With \`-o json\` and \`-o jsonl\` each line of stderr is one JSON object: \`{"warning": {"code", "message"}}\`
as it happens, and \`{"error": …}\` last if the command fails. There are no notes and no progress.
\`run\` and \`jobs attach\` also pass on the stderr of their command: read their outcome from the file of
\`--report\`. The schema: [schemas/stderr.schema.json](../../schemas/stderr.schema.json).

${table(
  ['warning', 'meaning'],
  warnings.map(({ code: name, meaning }) => [code(name), md(meaning)]),
)}## Environment

A flag overrides the environment, which overrides the profile, which overrides the default.

${table(
  ['variable', 'overridden by', 'meaning'],
  environment.map(({ variables, flag, meaning }) => [
    variables.map(code).join(', '),
    flag === null ? '' : code(flag),
    md(meaning),
  ]),
)}## Topics

${table(
  ['', ''],
  topics.map(({ name, summary: words }) => [code(`gpucloud help ${name}`), md(words)]),
)}${TREE_AS_DATA}`;
}

const TREE_AS_DATA = `## The tree as data

\`gpucloud commands --json\` is one document. A new version may add fields, commands and flags. It
removes none and changes no type; \`test/golden/\` checks this.

${table(
  ['field', 'meaning'],
  [
    ['`name`, `version`, `summary`', 'the program'],
    ['`groups[]`', '`name`, `aliases`, `summary`, and `heading`, its section in the help'],
    ['`commands[]`', 'each command, in help order'],
    ['`commands[].command`, `.words`', '`"instances create"`, and its words as an array'],
    ['`commands[].aliases`', 'alternatives for the last word'],
    ['`commands[].summary`, `.notes`', 'its help text; `notes` may be null'],
    ['`commands[].usage`', 'its usage line'],
    [
      '`commands[].arguments[]`',
      '`name`, `required`, `variadic`, `type`, `choices`, `default`, `description`',
    ],
    [
      '`commands[].flags[]`',
      '`long`, `short`, `type`, `value` (the name of its value, null for a switch), `value_optional` (only after `=`), `repeatable`, `choices`, `default` (in words), `description`',
    ],
    ['`commands[].without_global_flags`', 'global flags that it refuses, or replaces by its own'],
    ['`commands[].columns[]`', '`name`, `kind`, `shown`: the values of `--columns` and `--sort`'],
    ['`commands[].examples`', 'whole command lines'],
    ['`commands[].exit_codes`', 'all its exit codes'],
    ['`commands[].passes_on_exit_code_of`', 'a program whose exit code it passes on, or null'],
    ['`commands[].tool`', 'how `gpucloud mcp` offers it to agents, or null'],
    [
      '`commands[].result_schema`',
      'JSON Schema of its JSON, in the npm package: `schemas/results.json#/$defs/DriveList`; or null',
    ],
    ['`global_flags[]`', 'as `flags[]`'],
    ['`exit_codes[]`', '`exit_code`, `code`, `meaning`'],
    ['`warnings[]`', '`code`, `meaning`'],
    ['`environment[]`', '`variables`, `flag`, `meaning`'],
    ['`formats`, `topics[]`', 'of `--output`; of `gpucloud help`'],
  ],
)}\`type\` is \`boolean\` (a switch), \`string\`, \`enum\` (one of \`choices\`), \`list\` (separated by
commas), \`number\`, \`duration\` (\`500ms\`, \`30s\`, \`15m\`, \`1h30m\`, \`3d\`), \`time\`, \`path\` or \`url\`.
`;

function markdownOf(group, commands) {
  const isGroup = commands.length > 1 || commands[0]?.command !== group.name;
  const also = group.aliases.length === 0 ? '' : ` Also: ${group.aliases.map(code).join(', ')}.`;
  const head = `# gpucloud ${group.name}\n\n${GENERATED} [All commands](README.md).\n\n`;
  const contents = isGroup
    ? `${md(group.summary)}.${also}\n\n${table(
        ['command', ''],
        commands.map(({ command, summary }) => [
          `[${command}](#${anchor(`gpucloud ${command}`)})`,
          md(summary),
        ]),
      )}`
    : '';
  return `${head}${contents}${commands.map(commandMarkdown).join('').trimEnd()}\n`;
}

function commandMarkdown(command) {
  const notes = blocksOf(command.notes)
    .map(({ kind, lines }) =>
      kind === 'lines'
        ? fence(
            lines.map((line) => line.slice(2)),
            'text',
          )
        : `${md(lines.join(' '))}\n\n`,
    )
    .join('');
  const aliases =
    command.aliases.length === 0 ? '' : `Also: ${command.aliases.map(code).join(', ')}.\n\n`;
  const columns =
    command.columns.length === 0
      ? ''
      : `Columns: ${command.columns
          .map(({ name, shown }) => (shown ? code(name) : `${code(name)} (with \`--columns\`)`))
          .join(', ')}.\n\n`;
  const isOwn = (long) => command.flags.some((flag) => flag.long === long);
  const sentence = (flags, text) => (flags.length === 0 ? '' : `${text(flags.map(code))}\n\n`);
  const without =
    sentence(
      command.without_global_flags.filter(isOwn),
      (names) => `It has its own ${names.join(', ')} instead of the global one.`,
    ) +
    sentence(
      command.without_global_flags.filter((long) => !isOwn(long)),
      (names) => `It does not take the global ${names.join(', ')}.`,
    );
  return `## gpucloud ${command.command}

${md(command.summary)}.

${notes}${fence([command.usage])}${table(
  ['argument', ''],
  command.arguments.map((argument) => [code(argumentTerm(argument)), md(wordsOf(argument))]),
)}${flagTable(command.flags)}${without}${aliases}${columns}${fence(command.examples, 'sh')}Exit codes: ${exitCodes(command)}; see [what they mean](README.md#exit-codes).

`;
}

function flagTable(flags) {
  return table(
    ['flag', ''],
    flags.map((flag) => [code(flagTerm(flag)), md(wordsOf(flag))]),
  );
}

// Man pages

/**
 * Escapes text for roff. Hyphens must stay copyable and searchable. roff treats a line that starts
 * with a dot or an apostrophe as a request.
 */
function roff(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('`', '\\(ga')
    .replace(
      /[^\n -~]/gu,
      (sign) => `\\[u${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^(?=[.'])/gm, '\\&');
}

/** Quotes a macro argument; a quotation mark inside would end the argument. */
function quoted(text) {
  return `"${roff(text).replaceAll('"', '\\(dq')}"`;
}

function title(name) {
  return `.\\" ${GENERATED.replaceAll('`', '')}\n.TH ${quoted(name.toUpperCase().replaceAll(' ', '-'))} 1 "" "gpucloud" "gpucloud manual"\n.nh\n.ad l\n`;
}

function section(name, text) {
  // A heading starts a paragraph, so `.PP` after it is redundant.
  return text === '' ? '' : `.SH ${quoted(name)}\n${text.replace(/^\.PP\n/, '')}`;
}

function item(term, text) {
  return `.TP\n.B ${quoted(term)}\n${roff(text === '' ? '\u00a0' : text)}\n`;
}

function verbatim(lines) {
  return `.PP\n.nf\n.RS 4\n${lines.map((line) => roff(line)).join('\n')}\n.RE\n.fi\n`;
}

function paragraph(text) {
  return `.PP\n${roff(text)}\n`;
}

function manIndex(reference) {
  const { summary, global_flags, exit_codes, environment, topics } = reference;
  const chapters = chaptersOf(reference)
    .map(
      ({ heading, groups }) =>
        `.SS ${quoted(heading)}\n${groups.map(({ name, summary: words }) => item(name, `${words}. See gpucloud-${name}(1).`)).join('')}`,
    )
    .join('');
  return (
    title('gpucloud') +
    section('NAME', `gpucloud \\- ${roff(firstLower(summary).replace(/\.$/, ''))}\n`) +
    section('SYNOPSIS', '.B gpucloud\n.I command\n.RI [ options ]\n.RI [ arguments ]\n') +
    section(
      'DESCRIPTION',
      `${roff(summary)}\n${paragraph('Standard output holds the result and nothing else. The exit code reports the outcome. The profile "sandbox" is the whole service on this computer: free, offline, with a clock that you control.')}`,
    ) +
    section('COMMANDS', chapters) +
    section(
      'GLOBAL OPTIONS',
      global_flags.map((flag) => item(flagTerm(flag), wordsOf(flag))).join(''),
    ) +
    section(
      'EXIT STATUS',
      exit_codes
        .map(({ exit_code, code: name, meaning }) =>
          item(String(exit_code), name === null ? meaning : `${meaning} (in JSON: ${name})`),
        )
        .join(''),
    ) +
    section(
      'ENVIRONMENT',
      environment
        .map(({ variables, flag, meaning }) =>
          item(variables.join(', '), flag === null ? meaning : `${meaning}; ${flag} overrides it`),
        )
        .join(''),
    ) +
    section(
      'TOPICS',
      topics.map(({ name, summary: words }) => item(`gpucloud help ${name}`, words)).join(''),
    ) +
    section('SEE ALSO', seeAlso(reference.groups.map(({ name }) => `gpucloud-${name}`)))
  );
}

function seeAlso(pages) {
  return pages
    .map((page, at) => `.BR ${quoted(page)} (1)${at === pages.length - 1 ? '' : ','}\n`)
    .join('');
}

/** Lowercases the first letter, except in `API keys`. */
function firstLower(text) {
  return /^[A-Z]{2}/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

function manOf(group, commands, reference) {
  const isGroup = commands.length > 1 || commands[0]?.command !== group.name;
  const also = group.aliases.length === 0 ? '' : paragraph(`Also: ${group.aliases.join(', ')}.`);
  const others = reference.groups
    .filter(({ heading, name }) => heading === group.heading && name !== group.name)
    .map(({ name }) => `gpucloud-${name}`);
  return (
    title(`gpucloud-${group.name}`) +
    section('NAME', `gpucloud\\-${roff(group.name)} \\- ${roff(firstLower(group.summary))}\n`) +
    section(
      'SYNOPSIS',
      commands
        .map(({ usage }) => `.B ${quoted(usage)}\n.br\n`)
        .join('')
        .replace(/\.br\n$/, ''),
    ) +
    section('DESCRIPTION', isGroup ? `${roff(group.summary)}.\n${also}` : notesMan(commands[0])) +
    (isGroup
      ? section(
          'COMMANDS',
          commands
            .map(
              (command) =>
                `.SS ${quoted(command.usage)}\n${roff(command.summary)}.\n${notesMan(command, false)}${detailsMan(command)}`,
            )
            .join(''),
        )
      : section('OPTIONS', detailsMan(commands[0]))) +
    section(
      'GLOBAL OPTIONS, EXIT STATUS, ENVIRONMENT',
      `${roff('See gpucloud(1) for the global options, exit codes and environment variables.')}\n`,
    ) +
    section('SEE ALSO', seeAlso(['gpucloud', ...others]))
  );
}

function exitCodes({ exit_codes, passes_on_exit_code_of: program }) {
  const own = exit_codes.join(', ');
  return program === null ? own : `${own}, or that of ${program} once started`;
}

function notesMan(command, withSummary = true) {
  const blocks = blocksOf(command.notes).map(({ kind, lines }) =>
    kind === 'lines' ? verbatim(lines) : paragraph(lines.join(' ')),
  );
  return `${withSummary ? `${roff(command.summary)}.\n` : ''}${blocks.join('')}`;
}

function detailsMan(command) {
  const { arguments: given, flags, columns, aliases, examples } = command;
  const words = columns.map(({ name, shown }) => (shown ? name : `${name} (with --columns)`));
  return [
    ...given.map((argument) => item(argumentTerm(argument), wordsOf(argument))),
    ...flags.map((flag) => item(flagTerm(flag), wordsOf(flag))),
    aliases.length === 0 ? '' : paragraph(`Also: ${aliases.join(', ')}.`),
    words.length === 0 ? '' : paragraph(`Columns: ${words.join(', ')}.`),
    paragraph('Examples:'),
    verbatim(examples),
    paragraph(`Exit codes: ${exitCodes(command)}.`),
  ].join('');
}
