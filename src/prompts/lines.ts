import { StringDecoder } from 'node:string_decoder';
import { cancelled, untilCancelled } from './cancel.ts';
import { type Question, tooFew } from './inquirer.ts';
import type { PromptsOptions } from './prompts.ts';
import { matching } from './rows.ts';

type Asking<F extends Question['form']> = Extract<Question, { form: F }>;

/** A longer list is not printed before something of the name was typed. */
const LONG = 20;

/**
 * The same questions line by line, for the shell of an editor (`TERM=dumb`) and for screen readers:
 * nothing moves the cursor, draws again or needs a key other than Enter. A list is numbered, and a
 * part of a name does as well as its number.
 */
export function lineAsker({
  stdin,
  stderr,
  signal,
}: PromptsOptions): (question: Question) => Promise<unknown> {
  let typedAhead = '';

  function print(text: string): void {
    if (!stderr.destroyed) stderr.write(text);
  }

  /** Hands what is typed to `take` until that returns the answer. */
  async function read(
    gone: AbortSignal,
    take: (typed: string) => string | undefined,
  ): Promise<string> {
    const decoder = new StringDecoder('utf8');
    let onData: (chunk: Buffer) => void = () => undefined;
    let onGone: () => void = () => undefined;
    try {
      return await new Promise<string>((resolve, reject) => {
        const next = (typed: string) => {
          const answer = take(typed);
          if (answer !== undefined) resolve(answer);
        };
        onData = (chunk) => next(decoder.write(chunk));
        onGone = () => {
          // What comes next does not belong behind the question.
          print('\n');
          reject(cancelled(gone.reason));
        };
        if (gone.aborted) return onGone();
        gone.addEventListener('abort', onGone);
        stdin.on('data', onData).resume();
        next('');
      });
    } finally {
      stdin.off('data', onData).pause();
      gone.removeEventListener('abort', onGone);
    }
  }

  /** A line that the terminal itself shows and lets edit. */
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

  /** A line that is not shown: the terminal hands over each key, and shows none. */
  async function hidden(gone: AbortSignal, leave: () => void): Promise<string> {
    stdin.setRawMode?.(true);
    let text = '';
    try {
      return await read(gone, (typed) => {
        for (const key of typed) {
          if (key === '\r' || key === '\n') {
            print('\n');
            return text;
          }
          if (key === '\u0003' || key === '\u0004') leave();
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

  async function text({ message, initial = '', check }: Asking<'text'>, gone: AbortSignal) {
    for (;;) {
      print(`${message}${initial === '' ? '' : ` [${initial}]`} `);
      const typed = (await line(gone)) || initial;
      const broken = check?.(typed);
      if (broken === undefined) return typed;
      print(`  ${broken}\n`);
    }
  }

  async function secret({ message, check }: Asking<'secret'>, gone: AbortController) {
    for (;;) {
      print(`${message} (what you type is not shown) `);
      const typed = await hidden(gone.signal, () => gone.abort());
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
    if (lines.length <= LONG) printAll(message, lines);
    else print(`${message} (${lines.length} to choose from)\n`);
    for (;;) {
      print(`Number, or a part of the name [${initial + 1}] `);
      const typed = (await line(gone)).trim();
      if (typed === '') return initial;
      const place = placeOf(typed, lines);
      if (typeof place === 'number') return place;
      printSome(place, lines);
    }
  }

  async function several({ message, choices, least }: Asking<'several'>, gone: AbortSignal) {
    const lines = choices.map(lineOf);
    printAll(message, lines);
    const taken = choices.flatMap(({ checked }, at) => (checked === true ? [at] : []));
    const now = taken.length === 0 ? 'none' : taken.map((at) => at + 1).join(' ');
    for (;;) {
      print(`Numbers with spaces between them, or none [${now}] `);
      const typed = (await line(gone)).trim().toLowerCase();
      const words = typed === 'none' || typed === '0' ? [] : typed.split(/[\s,]+/);
      const places = typed === '' ? taken : words.map((word) => numbered(word, lines));
      const wrong = places.indexOf(undefined);
      if (wrong >= 0) print(`  ${words[wrong]} is no number of the list\n`);
      else if (places.length < least) print(`  ${tooFew(least)}\n`);
      else return [...new Set(places)].sort((a, b) => (a ?? 0) - (b ?? 0));
    }
  }

  function printAll(message: string, lines: readonly string[]): void {
    print(`${message}\n${lines.map((one, at) => `  ${at + 1}. ${one}\n`).join('')}`);
  }

  function printSome(places: readonly number[], lines: readonly string[]): void {
    if (places.length === 0) print('  nothing of the list is called that\n');
    for (const at of places.slice(0, LONG)) print(`  ${at + 1}. ${lines[at]}\n`);
    if (places.length > LONG) print(`  and ${places.length - LONG} more\n`);
  }

  return (question) =>
    untilCancelled(stdin, signal, (gone): Promise<unknown> => {
      switch (question.form) {
        case 'text':
          return text(question, gone.signal);
        case 'secret':
          return secret(question, gone);
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

/** The place that a number or a part of a name means; the places that it may mean. */
function placeOf(typed: string, lines: readonly string[]): number | readonly number[] {
  const number = numbered(typed, lines);
  if (number !== undefined) return number;
  const fits = matching(typed);
  const places = lines.flatMap((one, at) => (fits(one) ? [at] : []));
  const [first, ...others] = places;
  return first !== undefined && others.length === 0 ? first : places;
}
