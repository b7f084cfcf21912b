import { type Readable, Writable } from 'node:stream';
import { type Paint, paintFor } from '../output/colour.ts';
import { clamp, width, wrapped } from '../output/width.ts';
import { cancelled, untilCancelled } from './cancel.ts';
import { type Check, type Choice, matching, type PromptsOptions, rowsOf } from './prompts.ts';

/** The kinds of question. All their text is already cleaned. */
export type Question =
  | {
      form: 'text';
      message: string;
      initial: string | undefined;
      check: Check | undefined;
    }
  | { form: 'secret'; message: string; check: Check | undefined }
  | { form: 'confirm'; message: string; initial: boolean }
  | {
      form: 'choose';
      message: string;
      choices: readonly Choice<unknown>[];
      initial: number | undefined;
    }
  | {
      form: 'several';
      message: string;
      choices: readonly (Choice<unknown> & { readonly checked: boolean | undefined })[];
      least: 0 | 1;
    };

/** Maximum choices on the screen. A longer list can be searched. */
const LONG = 10;

/**
 * Lines that a list question needs besides its choices: an empty line, the key help, and the last
 * line.
 */
const BESIDE = 3;

/** Width to assume for a terminal of unknown size. */
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Wraps inquirer, which loads at the first question. After Ctrl-D or the end of stdin, inquirer
 * alone never resolves, and the process exits with 0. With this wrapper, both cancel the question
 * like Ctrl-C.
 */
export function asker({
  stdin,
  stderr,
  colour,
  signal,
}: PromptsOptions & { readonly colour: boolean }): (question: Question) => Promise<unknown> {
  return (question) =>
    untilCancelled(stdin, signal, async (gone) => {
      const size = { columns: stderr.columns || USUAL_COLUMNS, rows: stderr.rows || USUAL_ROWS };
      const { columns } = size;
      const theme = themeOf(await paintFor(colour), columns);
      const onKey = (_text: unknown, key: { ctrl?: boolean; name?: string } | undefined) => {
        if (key?.name === 'escape' || (key?.ctrl && key.name === 'd')) gone.abort();
      };
      stdin.on('keypress', onKey);
      try {
        return await ask(question, theme, size, {
          input: stdin,
          output: colour ? stderr : withoutColours(stderr),
          signal: gone.signal,
        });
      } catch (error) {
        // inquirer fails to reset a closed terminal.
        if (isCancel(error) || gone.signal.aborted) throw cancelled(gone.signal.reason);
        throw error;
      } finally {
        stdin.off('keypress', onKey);
      }
    });
}

async function ask(
  question: Question,
  theme: QuestionTheme,
  size: Size,
  streams: { input: Readable; output: Writable; signal: AbortSignal },
): Promise<unknown> {
  const { createPromptModule } = (await import('inquirer')).default;
  const prompt = createPromptModule(streams);
  const form = {
    theme,
    ...formOf(question, theme, size),
    message: question.message,
    name: 'answer',
  };
  // This union of questions does not match inquirer's own types.
  const answers: Record<string, unknown> = await prompt([form as never]);
  return answers.answer;
}

/**
 * Converts a question to inquirer's format. A choice returns its index, since a value may be
 * anything.
 */
function formOf(question: Question, theme: QuestionTheme, size: Size): object {
  switch (question.form) {
    case 'text': {
      const { initial, check } = question;
      // A question without a type asks for a text.
      return {
        default: initial,
        validate: (text: string) => check?.(text) ?? true,
      };
    }
    case 'secret': {
      const { check } = question;
      // Shows a dot per character, so that a paste is visible. inquirer offers a key that shows the
      // typed text, but a secret must stay hidden.
      return {
        type: 'password',
        mask: '•',
        toggleMask: false,
        validate: (text: string) => check?.(text) ?? true,
      };
    }
    case 'confirm':
      return { type: 'confirm', default: question.initial };
    case 'choose': {
      const lines = placed(question, size, '❯ ');
      const { initial = 0 } = question;
      const list = { pageSize: pageOf(question, size), default: initial };
      return lines.length > LONG
        ? {
            ...list,
            type: 'search',
            theme: searched(theme),
            source: (term = '') => found(lines, term),
          }
        : { ...list, type: 'select', loop: false, choices: lines };
    }
    case 'several': {
      const { choices, least } = question;
      return {
        type: 'checkbox',
        loop: false,
        pageSize: pageOf(question, size),
        shortcuts: { all: 'a', invert: null },
        choices: placed(question, size, '❯◉ ').map((line, at) => ({
          ...line,
          checked: choices[at]?.checked === true,
        })),
        validate: (chosen: readonly unknown[]) => chosen.length >= least || TOO_FEW,
      };
    }
  }
}

/**
 * Returns how many rows of a list fit on the screen with the whole question. A terminal can't
 * redraw scrolled lines, so they would pile up with each key.
 */
function pageOf({ message }: Question, { columns, rows }: Size): number {
  const lines = Math.ceil((width(message) + 3) / columns);
  return Math.max(1, Math.min(LONG, rows - lines - BESIDE));
}

/** Adds to the help that a long list can be searched. */
function searched(theme: QuestionTheme): QuestionTheme {
  const { keysHelpTip } = theme.style;
  return {
    ...theme,
    style: {
      ...theme.style,
      keysHelpTip: (keys) => keysHelpTip([['type', 'to search'], ...keys]),
    },
  };
}

type Line = ReturnType<typeof placed>[number];

function placed(
  { message, choices }: Extract<Question, { choices: unknown }>,
  { columns }: Size,
  cursor: string,
) {
  // Some terminals wrap a line that fills the last cell.
  const rows = rowsOf(choices, columns - width(cursor) - 1);
  const room = Math.max(10, columns - width(message) - 4);
  return choices.map(({ name, about = [] }, value) => ({
    name: rows[value] ?? '',
    short: clamp(name, room),
    value,
    // Keep extra choices, such as "another ID", for every search text.
    stays: about.length === 0,
  }));
}

function found(lines: readonly Line[], term: string): readonly Line[] {
  const fits = matching(term);
  return lines.filter(({ name, stays }) => stays || fits(name));
}

export const TOO_FEW = 'choose at least one';

const CANCELS = new Set(['ExitPromptError', 'AbortPromptError', 'CancelPromptError']);

function isCancel(error: unknown): boolean {
  return error instanceof Error && CANCELS.has(error.name);
}

const COLOURS = /\u001b\[[0-9;]*m/g;

/**
 * Returns a terminal without colours. inquirer can't turn off colours, and ignores NO_COLOR on Node
 * 20. The terminal still moves the cursor, since questions need that.
 */
function withoutColours(
  terminal: Writable & { isTTY?: boolean; columns?: number },
): Writable & { columns?: number } {
  const colourless = new Writable({
    write(chunk: Buffer, _encoding, done) {
      terminal.write(String(chunk).replace(COLOURS, ''), done);
    },
  });
  return Object.defineProperty(colourless, 'columns', { get: () => terminal.columns });
}

/**
 * Styles inquirer's questions in the colours of the output. inquirer's own cyan, blue and yellow
 * are unreadable in many palettes.
 */
function themeOf(paint: Paint, columns: number) {
  /** If there is little room, show the first keys and the last key, Enter. */
  const tip = (keys: readonly string[]): string => {
    const text = keys.join(' · ');
    return width(text) < columns || keys.length < 3
      ? paint('dim', clamp(text, columns - 1))
      : tip([...keys.slice(0, -2), ...keys.slice(-1)]);
  };
  return {
    prefix: { idle: paint('cyan', '?'), done: paint('green', '✔') },
    spinner: { interval: 80, frames: ['…'] },
    icon: { cursor: '❯', checked: paint('green', '◉'), unchecked: '◯' },
    style: {
      message: (text: string) => paint('bold', text),
      answer: (text: string) => paint('cyan', text),
      highlight: (text: string) => paint('cyan', text),
      searchTerm: (text: string) => text,
      defaultAnswer: (text: string) => paint('dim', `(${text})`),
      error: (text: string) => paint('red', wrapped(`> ${text}`, columns, 2)),
      keysHelpTip: (keys: readonly (readonly [string, string])[]) =>
        tip(keys.map(([key, action]) => `${key} ${action}`)),
    },
  };
}

type QuestionTheme = ReturnType<typeof themeOf>;
