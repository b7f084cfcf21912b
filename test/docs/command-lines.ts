export interface CommandLine {
  /** The line number, from 1. */
  readonly line: number;
  readonly text: string;
  /** The reader answers yes: `<!-- a person answers yes -->` precedes the block. */
  readonly yes: boolean;
  /** The expected exit code: 0 unless `<!-- exit N -->` precedes the block. */
  readonly exit: number;
}

export interface Walkthrough {
  /** The command lines in order, and the files that the reader saves. */
  readonly steps: readonly CommandLine[];
  /** Blocks that are not run, with the reason from `<!-- not run: … -->`. */
  readonly notRun: readonly { readonly line: number; readonly reason: string }[];
}

/** A file that the page asks the reader to save. */
const FILE = /Save this example as `([\w./-]+)`[^\n]*\n\n```\w+\n([\s\S]*?)^```$/gm;

const BLOCK = /^((?:[ \t]*<!--[\s\S]*?-->\n+)*)[ \t]*```(console|shell)\n([\s\S]*?)^[ \t]*```$/gm;

/** Matches the start of a command in each kind of block. */
const COMMAND = {
  console: /^[ \t]*\$ ((?:.*\\\n)*.*)$/gm,
  shell: /^[ \t]*(\S(?:.*\\\n)*.*)$/gm,
};

/**
 * Reads the `console` and `shell` blocks of a document. A backslash continues a line. In a
 * `console` block, commands start with `$ ` and other lines are output. A `shell` block contains
 * only commands.
 */
export function commandLinesOf(markdown: string): Walkthrough {
  const steps: CommandLine[] = [];
  const notRun: { line: number; reason: string }[] = [];
  for (const block of markdown.matchAll(BLOCK)) {
    const [whole, marks = '', kind, body = ''] = block;
    const first = lineAt(markdown, block.index + whole.indexOf(`\`\`\`${kind}`)) + 1;
    const mark = (name: string) =>
      new RegExp(`<!-- ${name}:?\\s([\\s\\S]*?)\\s*-->`).exec(marks)?.[1];
    const reason = mark('not run');
    if (reason !== undefined) {
      notRun.push({ line: first, reason });
      continue;
    }
    const exit = Number.parseInt(mark('exit') ?? '0', 10);
    for (const command of body.matchAll(kind === 'shell' ? COMMAND.shell : COMMAND.console)) {
      steps.push({
        line: first + lineAt(body, command.index) - 1,
        text: command[1] ?? '',
        yes: mark('a person answers yes') !== undefined,
        exit,
      });
    }
  }
  for (const { index, 1: name, 2: content } of markdown.matchAll(FILE)) {
    const text = `cat > ${name} <<'END'\n${content}END`;
    steps.push({ line: lineAt(markdown, index), text, yes: false, exit: 0 });
  }
  return { steps: steps.sort((a, b) => a.line - b.line), notRun };
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** Any block. Matches blocks of other languages too, since their ends look like starts. */
const FENCED = /^[ \t]*```(\S*)[^\n]*\n([\s\S]*?)^[ \t]*```[ \t]*$/gm;

/** Languages of blocks that readers paste at a prompt, unless the block is a script. */
const PASTED = ['', 'console', 'shell', 'sh', 'bash', 'zsh'];

/** Matches quoted text, in which `#` begins no comment. */
const QUOTED = /'[^']*'|"(?:\\.|[^"\\])*"|\\./gs;

/**
 * Finds comments in commands that readers paste at a prompt. An interactive zsh passes them on as
 * arguments. Scripts, which start with `#!`, may have comments.
 */
export function commentsAtPrompt(markdown: string): { line: number; text: string }[] {
  return [...markdown.matchAll(FENCED)].flatMap(({ index, 1: language = '', 2: body = '' }) => {
    if (!PASTED.includes(language) || /^\s*#!/.test(body)) return [];
    const first = lineAt(markdown, index) + 1;
    const commands = COMMAND[language === 'console' ? 'console' : 'shell'];
    return [...body.matchAll(commands)].flatMap(({ index: at, 1: text = '' }) =>
      /(?:^|[\s;&|()])#/.test(text.replace(QUOTED, (quoted) => quoted.replace(/\S/g, 'x')))
        ? [{ line: first + lineAt(body, at) - 1, text }]
        : [],
    );
  });
}
