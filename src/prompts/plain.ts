import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type Question, tooFew } from './inquirer.ts';
import { leaving, untilLeft } from './leaving.ts';
import { matching } from './rows.ts';

export interface PlainOptions {
  readonly stdin: Readable & { setRawMode?: (raw: boolean) => unknown };
  readonly stderr: Writable;
  readonly signal?: AbortSignal;
}

type Asking<F extends Question['form']> = Extract<Question, { form: F }>;

/** A list of more than this is not read out before something of the name was said. */
const LONG = 20;

/**
 * The same questions as plain lines, each written once: nothing moves the cursor, draws again or
 * needs a key other than Enter. A list is numbered, and a part of a name does as well as its number.
 */
export function plainAsker({
  stdin,
  stderr,
  signal,
}: PlainOptions): (question: Question) => Promise<unknown> {
  let typedAhead = '';

  function say(text: string): void {
    if (!stderr.destroyed) stderr.write(text);
  }

  /** A line that the terminal itself lets edit, and shows. */
  async function line(gone: AbortSignal): Promise<string> {
    const decoder = new StringDecoder('utf8');
    return await reading(
      gone,
      (take) => (chunk) => {
        typedAhead += decoder.write(chunk);
        takeLine(take);
      },
      takeLine,
    );
  }

  function takeLine(take: (text: string) => void): void {
    const end = typedAhead.search(/\r?\n|\r/);
    if (end < 0) return;
    const text = typedAhead.slice(0, end);
    typedAhead = typedAhead.slice(end).replace(/^(\r?\n|\r)/, '');
    take(text);
  }

  /** A line that is not shown: the terminal gives each key as it is, and shows none. */
  async function hidden(gone: AbortSignal, leave: () => void): Promise<string> {
    stdin.setRawMode?.(true);
    try {
      const decoder = new StringDecoder('utf8');
      let typed = '';
      return await reading(gone, (take) => (chunk) => {
        for (const key of decoder.write(chunk)) {
          if (key === '\r' || key === '\n') {
            say('\n');
            return take(typed);
          }
          if (key === '\u0003' || key === '\u0004') return leave();
          if (key === '\u007f' || key === '\b') typed = [...typed].slice(0, -1).join('');
          else if (key === '\u0015') typed = '';
          else if (key >= ' ') typed += key;
        }
      });
    } finally {
      stdin.setRawMode?.(false);
    }
  }

  async function reading(
    gone: AbortSignal,
    listener: (take: (text: string) => void) => (chunk: Buffer) => void,
    before?: (take: (text: string) => void) => void,
  ): Promise<string> {
    let onData: ((chunk: Buffer) => void) | undefined;
    let onGone: (() => void) | undefined;
    try {
      return await new Promise<string>((resolve, reject) => {
        onGone = () => {
          // What comes next does not belong behind the question.
          say('\n');
          reject(leaving(gone.reason));
        };
        if (gone.aborted) return onGone();
        before?.(resolve);
        onData = listener(resolve);
        gone.addEventListener('abort', onGone);
        stdin.on('data', onData);
        stdin.resume();
      });
    } finally {
      if (onData !== undefined) stdin.off('data', onData);
      if (onGone !== undefined) gone.removeEventListener('abort', onGone);
      stdin.pause();
    }
  }

  async function text({ message, initial = '', check }: Asking<'text'>, gone: AbortSignal) {
    for (;;) {
      say(`${message}${initial === '' ? '' : ` [${initial}]`} `);
      const typed = (await line(gone)) || initial;
      const broken = check?.(typed);
      if (broken === undefined) return typed;
      say(`  ${broken}\n`);
    }
  }

  async function secret({ message, check }: Asking<'secret'>, gone: AbortController) {
    for (;;) {
      say(`${message} (what you type is not shown) `);
      const typed = await hidden(gone.signal, () => gone.abort());
      const broken = check?.(typed);
      if (broken === undefined) return typed;
      say(`  ${broken}\n`);
    }
  }

  async function confirm({ message, initial }: Asking<'confirm'>, gone: AbortSignal) {
    for (;;) {
      say(`${message} yes or no [${initial ? 'yes' : 'no'}] `);
      const typed = (await line(gone)).trim().toLowerCase();
      if (typed === '') return initial;
      if ('yes'.startsWith(typed)) return true;
      if ('no'.startsWith(typed)) return false;
      say('  type yes or no\n');
    }
  }

  async function choose({ message, choices, initial = 0 }: Asking<'choose'>, gone: AbortSignal) {
    const lines = choices.map(lineOf);
    if (lines.length <= LONG) tell(message, lines);
    else say(`${message} (${lines.length} to choose from)\n`);
    for (;;) {
      say(`Number, or a part of the name [${initial + 1}] `);
      const typed = (await line(gone)).trim();
      if (typed === '') return initial;
      const place = placeOf(typed, lines);
      if (typeof place === 'number') return place;
      tellOf(place, lines);
    }
  }

  async function several({ message, choices, least }: Asking<'several'>, gone: AbortSignal) {
    const lines = choices.map(lineOf);
    tell(message, lines);
    const taken = choices.flatMap(({ checked }, at) => (checked === true ? [at] : []));
    const now = taken.length === 0 ? 'none' : taken.map((at) => at + 1).join(' ');
    for (;;) {
      say(`Numbers with spaces between them, or none [${now}] `);
      const typed = (await line(gone)).trim().toLowerCase();
      const words = typed === 'none' || typed === '0' ? [] : typed.split(/[\s,]+/);
      const places = typed === '' ? taken : words.map((word) => numbered(word, lines));
      const wrong = places.indexOf(undefined);
      if (wrong >= 0) say(`  ${words[wrong]} is no number of the list\n`);
      else if (places.length < least) say(`  ${tooFew(least)}\n`);
      else return [...new Set(places)].sort((a, b) => (a ?? 0) - (b ?? 0));
    }
  }

  function tell(message: string, lines: readonly string[]): void {
    say(`${message}\n${lines.map((one, at) => `  ${at + 1}. ${one}\n`).join('')}`);
  }

  function tellOf(places: readonly number[], lines: readonly string[]): void {
    if (places.length === 0) say('  nothing of the list is called that\n');
    for (const at of places.slice(0, LONG)) say(`  ${at + 1}. ${lines[at]}\n`);
    if (places.length > LONG) say(`  and ${places.length - LONG} more\n`);
  }

  return (question) =>
    untilLeft(stdin, signal, (gone): Promise<unknown> => {
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
