import { StringDecoder } from 'node:string_decoder';
import { cancelled, untilCancelled } from './cancel.ts';
import { type Question, TOO_FEW } from './inquirer.ts';
import { matching, type PromptsOptions } from './prompts.ts';

type Asking<F extends Question['form']> = Extract<Question, { form: F }>;

/**
 * Asks the same questions line by line, for an editor's shell (`TERM=dumb`) and for screen readers.
 * Nothing moves the cursor, redraws, or needs a key other than Enter. Numbers the choices of a
 * list, and accepts a number or a part of a name.
 */
export function lineAsker({
  stdin,
  stderr,
  signal,
}: PromptsOptions): (question: Question) => Promise<unknown> {
  let typedAhead = '';

  const print = (text: string) => void stderr.write(text);

  /** Passes each typed line to `take` until it returns the result. */
  function read(gone: AbortSignal, take: (typed: string) => string | undefined): Promise<string> {
    const decoder = new StringDecoder('utf8');
    return new Promise((resolve, reject) => {
      const next = (typed: string) => {
        const answer = take(typed);
        if (answer === undefined) return;
        end();
        resolve(answer);
      };
      const onData = (chunk: Buffer) => next(decoder.write(chunk));
      const onGone = () => {
        end();
        // Start the next output on a new line, after the question.
        print('\n');
        reject(cancelled(gone.reason));
      };
      const end = () => {
        stdin.off('data', onData).pause();
        gone.removeEventListener('abort', onGone);
      };
      if (gone.aborted) return onGone();
      gone.addEventListener('abort', onGone);
      stdin.on('data', onData).resume();
      next('');
    });
  }

  /** Reads a line that the terminal itself echoes and edits. */
  function line(gone: AbortSignal): Promise<string> {
    return read(gone, (typed) => {
      typedAhead += typed;
      const end = /\r?\n|\r/.exec(typedAhead);
      if (end === null) return undefined;
      const text = typedAhead.slice(0, end.index);
      typedAhead = typedAhead.slice(end.index + end[0].length);
      return text;
    });
  }

  /** Reads a hidden line: the terminal passes on each key without echo. */
  async function hidden(gone: AbortController): Promise<string> {
    stdin.setRawMode?.(true);
    let text = '';
    try {
      return await read(gone.signal, (typed) => {
        for (const key of typed) {
          if (key === '\r' || key === '\n') {
            print('\n');
            return text;
          }
          if (key === '\u0003' || key === '\u0004') gone.abort();
          else if (key === '\u007f' || key === '\b') text = [...text].slice(0, -1).join('');
          else if (key === '\u0015') text = '';
          else if (key >= ' ') text += key;
        }
        return undefined;
      });
    } finally {
      stdin.setRawMode?.(false);
    }
  }

  async function text(
    { message, check }: Asking<'text' | 'secret'>,
    initial: string,
    readLine: () => Promise<string>,
  ) {
    for (;;) {
      print(`${message}${initial === '' ? '' : ` [${initial}]`} `);
      const typed = (await readLine()) || initial;
      const broken = check?.(typed);
      if (broken === undefined) return typed;
      print(`  ${broken}\n`);
    }
  }

  async function confirm({ message, initial }: Asking<'confirm'>, gone: AbortSignal) {
    for (;;) {
      print(`${message} yes or no [${initial ? 'yes' : 'no'}] `);
      const typed = (await line(gone)).trim().toLowerCase();
      if (typed === '') return initial;
      if ('yes'.startsWith(typed)) return true;
      if ('no'.startsWith(typed)) return false;
      print('  type yes or no\n');
    }
  }

  async function choose({ message, choices, initial = 0 }: Asking<'choose'>, gone: AbortSignal) {
    const lines = choices.map(lineOf);
    printAll(message, lines);
    for (;;) {
      print(`Number, or a part of the name [${initial + 1}] `);
      const typed = (await line(gone)).trim();
      if (typed === '') return initial;
      const places = placesOf(typed, lines);
      if (places.length === 1) return places[0];
      if (places.length === 0) print('  no choice matches\n');
      for (const at of places) print(`  ${at + 1}. ${lines[at]}\n`);
    }
  }

  async function several({ message, choices, least }: Asking<'several'>, gone: AbortSignal) {
    const lines = choices.map(lineOf);
    printAll(message, lines);
    const taken = choices.flatMap(({ checked }, at) => (checked === true ? [at] : []));
    const now = taken.length === 0 ? 'none' : taken.map((at) => at + 1).join(' ');
    for (;;) {
      print(`Numbers separated by spaces, or none [${now}] `);
      const typed = (await line(gone)).trim().toLowerCase() || now;
      const words = typed === 'none' || typed === '0' ? [] : typed.split(/[\s,]+/);
      const places = words.flatMap((word) => numbered(word, lines) ?? []);
      const wrong = words.find((word) => numbered(word, lines) === undefined);
      if (wrong !== undefined) print(`  ${wrong} is not a number from the list\n`);
      else if (places.length < least) print(`  ${TOO_FEW}\n`);
      else return [...new Set(places)].sort((a, b) => a - b);
    }
  }

  function printAll(message: string, lines: readonly string[]): void {
    print(`${message}\n${lines.map((one, at) => `  ${at + 1}. ${one}\n`).join('')}`);
  }

  return (question) =>
    untilCancelled(stdin, signal, (gone): Promise<unknown> => {
      switch (question.form) {
        case 'text':
          return text(question, question.initial ?? '', () => line(gone.signal));
        case 'secret': {
          const message = `${question.message} (input hidden)`;
          return text({ ...question, message }, '', () => hidden(gone));
        }
        case 'confirm':
          return confirm(question, gone.signal);
        case 'choose':
          return choose(question, gone.signal);
        case 'several':
          return several(question, gone.signal);
      }
    });
}

function lineOf({ name, about = [] }: { name: string; about?: readonly string[] }): string {
  const parts = [name, ...about].map((part) => part.trim());
  return parts.filter((part) => part !== '').join(', ');
}

function numbered(word: string, lines: readonly string[]): number | undefined {
  const number = /^[0-9]{1,6}$/.test(word) ? Number(word) : 0;
  return number >= 1 && number <= lines.length ? number - 1 : undefined;
}

/** Returns the indexes of the choices that match a number or part of a name. */
function placesOf(typed: string, lines: readonly string[]): number[] {
  const number = numbered(typed, lines);
  if (number !== undefined) return [number];
  const fits = matching(typed);
  return lines.flatMap((one, at) => (fits(one) ? [at] : []));
}
