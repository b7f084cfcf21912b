import { hintOf } from './command-line/hints.ts';
import type { Host } from './context.ts';
import {
  asCliError,
  type CliError,
  type LoggedEvent,
  SeveralErrors,
  unforeseenIn,
} from './errors.ts';
import { escapeUnseen, RED_ERROR, wrapped } from './output/index.ts';
import { debugLine } from './output/messages.ts';
import { withProfile } from './output/shell-line.ts';
import { withoutRoubleSign } from './output/table/rouble.ts';
import { instant, localTime } from './output/time.ts';
import { clean } from './rules/clean.ts';
import { withoutKeys } from './rules/secrets.ts';

interface Reporting {
  readonly json: boolean;
  /** The profile from a flag, to add to every suggested command. */
  readonly profile: string | undefined;
  /** Whether to add the stack of an unexpected error. */
  readonly debug: boolean;
  /** Width of the terminal for text; undefined if stderr is not a terminal. */
  readonly columns?: number | undefined;
  readonly colour?: boolean;
  /** Whether to print `RUB` instead of the rouble sign. */
  readonly ascii?: boolean;
}

/** Formats the outcome of a command for stderr. Only this file turns errors into text. */
export function report(failure: CliError, how: Reporting): string {
  const { json, profile, debug } = how;
  const frames = debug ? framesOf(failure) : [];
  const lines = json
    ? [...frames.map(debugLine), jsonReport(failure, profile)]
    : [...frames, ...textReport(failure, how)];
  return lines.map((line) => `${line}\n`).join('');
}

/** Reports a fault that no command caught. */
export function faultReport(fault: Error, argv: readonly string[], env: Host['env']): string {
  const json = wantsJson(undefined, argv, env);
  const debug = argv.includes('--debug');
  return report(asCliError(fault), { json, profile: undefined, debug });
}

/** Returns the stack frames of an unexpected error; the report already has its message. */
function framesOf(failure: CliError): string[] {
  const lines = (unforeseenIn(failure)?.stack ?? '').split('\n');
  return lines.filter((line) => /^ +at /.test(line)).map(clean);
}

/** Whether the report is JSON. If the command line can't be parsed, searches its words. */
export function wantsJson(
  format: string | undefined,
  argv: readonly string[],
  env: Host['env'],
): boolean {
  if (format !== undefined) return format === 'json' || format === 'jsonl';
  const words = beforeDashes(argv);
  const given = words.flatMap((word, at) => {
    if (word === '--json') return ['json'];
    if (word === '--output') return [words[at + 1]];
    if (word.startsWith('--')) return word.startsWith('--output=') ? [word.slice(9)] : [];
    // Matches `-o json`, `-ojson`, and both after switches: `-yojson`.
    const short = /^-[a-zA-Z]*?o(.*)/.exec(word);
    return short === null ? [] : [short[1]?.replace('=', '') || words[at + 1]];
  });
  const formats = given.length === 0 ? [env.GPUCLOUD_OUTPUT] : given;
  return formats.some((one) => one === 'json' || one === 'jsonl');
}

/** Returns the profile among the words of a command line that was refused before it was parsed. */
export function profileIn(argv: readonly string[]): string | undefined {
  const words = beforeDashes(argv);
  const at = words.findLastIndex((word) => /^--profile(=|$)/.test(word));
  const [flag = '', next] = at < 0 ? [] : words.slice(at);
  const profile = flag.startsWith('--profile=') ? flag.slice('--profile='.length) : next;
  return profile?.startsWith('-') ? undefined : profile;
}

function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/**
 * Formats the last line of stderr in JSON modes; schemas/stderr.schema.json is the contract with
 * scripts.
 */
function jsonReport(failure: CliError, profile: string | undefined): string {
  return escapeUnseen(JSON.stringify({ error: errorObject(failure, profile) }));
}

function errorObject(failure: CliError, profile: string | undefined): Record<string, unknown> {
  const words = (text: string) => withoutKeys(withProfile(text, profile));
  const hint = hintOf(failure);
  return {
    code: failure.code,
    message: words(failure.message),
    http_status: failure.httpStatus ?? null,
    hint: hint === undefined ? null : words(hint),
    retryable: failure.retryable,
    resource: failure.resource ?? null,
    may_be_billing: failure.mayBeBilling,
    ...(failure.events.length === 0 ? {} : { last_events: failure.events }),
    ...(failure instanceof SeveralErrors
      ? { errors: failure.errors.map((error) => errorObject(error, profile)) }
      : {}),
  };
}

/** Formats the text report: a line for the error, and a line for the next step. */
function textReport(failure: CliError, how: Reporting, next = hintOf(failure)): string[] {
  const { profile, columns, colour, ascii } = how;
  if (failure.silent) return [];
  if (failure instanceof SeveralErrors) {
    const all = failure.summary === undefined ? failure.errors : [failure.summary];
    const hints = all.map(hintOf);
    // If consecutive errors share a hint, prints it once, after the last of them.
    return all.flatMap((error, at) =>
      textReport(error, how, hints[at] === hints[at + 1] ? '' : hints[at]),
    );
  }
  const words = (text: string) => {
    const own = withoutKeys(clean(withProfile(text, profile)));
    return ascii ? withoutRoubleSign(own) : own;
  };
  // Each further line of a hint is a command to paste, so it is not wrapped.
  const [hint = '', ...toPaste] = (next ?? '').split('\n').map(words);
  // Cancelling is not a failure.
  const label = failure.failure === 'interrupted' ? '' : 'error: ';
  const painted = colour && label !== '' ? `${RED_ERROR} ` : label;
  return [
    wrapped(`${painted}${words(failure.message)}`, columns, label.length),
    ...failure.events.map((event) => wrapped(eventLine(event), columns, 2)),
    ...(hint === '' ? [] : [wrapped(`hint: ${hint}`, columns, 'hint: '.length), ...toPaste]),
  ];
}

function eventLine({ created_at, type, message }: LoggedEvent): string {
  const time = instant(created_at);
  const shown = time === undefined ? created_at : localTime(time);
  return `  ${withoutKeys(clean(`${shown}  ${type}  ${message}`))}`;
}
