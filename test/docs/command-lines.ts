/** A command line in a document. */
export interface CommandLine {
  /** The line number in the document, from 1. */
  readonly line: number;
  readonly text: string;
  /** Whether the reader confirms with yes: `<!-- a person answers yes -->` before the block. */
  readonly yes: boolean;
  /** The exit code that the document states; 0 unless a comment before the block says `exit N`. */
  readonly exit: number;
}

export interface Walkthrough {
  /** In order; `<!-- before: … -->` is bash that prepares what the document assumes. */
  readonly steps: readonly CommandLine[];
  /** Blocks that are not run, each with its reason, from `<!-- not run: … -->`. */
  readonly notRun: readonly { readonly line: number; readonly reason: string }[];
}

const BLOCK = /^((?:[ \t]*<!--[\s\S]*?-->\n+)*)[ \t]*```(console|shell)\n([\s\S]*?)^[ \t]*```$/gm;

/** Matches the start of a command in each kind of block. */
const COMMAND = {
  console: /^[ \t]*\$ ((?:.*\\\n)*.*)$/gm,
  shell: /^[ \t]*(\S(?:.*\\\n)*.*)$/gm,
};

/**
 * Reads the `console` and `shell` blocks of a document from top to bottom. A backslash at the end of
 * a line continues a command. In a `console` block it starts with `$ ` and the other lines are its
 * output; a `shell` block holds only commands.
 */
export function commandLinesOf(markdown: string): Walkthrough {
  const steps: CommandLine[] = [];
  const notRun: { line: number; reason: string }[] = [];
  for (const block of markdown.matchAll(BLOCK)) {
    const [whole, marks = '', kind, body = ''] = block;
    const first = lineAt(markdown, block.index + whole.indexOf(`\`\`\`${kind}`)) + 1;
    const all = (name: string) =>
      [...marks.matchAll(new RegExp(`<!-- ${name}:?\\s([\\s\\S]*?)\\s*-->`, 'g'))].map(
        ([, text = '']) => text,
      );
    const mark = (name: string) => all(name)[0];
    for (const text of all('before')) steps.push({ line: first - 1, text, yes: false, exit: 0 });
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
  return { steps, notRun };
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
