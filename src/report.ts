import { type CliError, type LoggedEvent, SeveralErrors } from './errors.ts';
import { clean, escapeUnseen } from './output/index.ts';
import { forProfile } from './output/messages.ts';

/**
 * What stderr says of the end of a command in a JSON mode: one object at most, the error and what
 * else a person would have been warned of. It is a contract with scripts.
 */
export function jsonReport(
  failure: CliError | undefined,
  warnings: readonly string[],
  profile: string | undefined,
): string {
  if (failure === undefined && warnings.length === 0) {
    return '';
  }
  const report = {
    ...(failure === undefined ? {} : { error: errorObject(failure, profile) }),
    ...(warnings.length === 0 ? {} : { warnings: warnings.map(withoutKeys) }),
  };
  return `${escapeUnseen(JSON.stringify(report))}\n`;
}

function errorObject(failure: CliError, profile: string | undefined): Record<string, unknown> {
  const words = (text: string) => forProfile(withoutKeys(text), profile);
  return {
    code: failure.code,
    message: words(failure.message),
    http_status: failure.httpStatus ?? null,
    hint: failure.hint === undefined ? null : words(failure.hint),
    retryable: failure.retryable,
    resource: failure.resource ?? null,
    may_be_billing: failure.mayBeBilling,
    ...(failure.events.length === 0 ? {} : { last_events: failure.events }),
    ...(failure instanceof SeveralErrors
      ? { errors: failure.errors.map((error) => errorObject(error, profile)) }
      : {}),
  };
}

/** The same for people: a line for the error, and one for what to do next. */
export function textReport(failure: CliError | undefined, profile: string | undefined): string {
  if (failure === undefined || failure.untold) {
    return '';
  }
  if (failure instanceof SeveralErrors) {
    const told = failure.summary === undefined ? failure.errors : [failure.summary];
    return told.map((error) => textReport(error, profile)).join('');
  }
  const words = (text: string) => clean(forProfile(withoutKeys(text), profile));
  const message = `error: ${words(failure.message)}`;
  const hint = failure.hint === undefined ? undefined : words(failure.hint);
  // What was typed wrong is told on one line; what happened elsewhere deserves a second.
  if (failure.failure === 'usage') return `${message}${hint === undefined ? '' : ` (${hint})`}\n`;
  const events = failure.events.map(eventLine);
  const hints = hint === undefined ? [] : [`hint: ${hint}`];
  return [message, ...events, ...hints].map((line) => `${line}\n`).join('');
}

function eventLine({ created_at, type, message }: LoggedEvent): string {
  return `  ${clean(withoutKeys(`${created_at}  ${type}  ${message}`))}`;
}

/** A key that someone typed as an argument is not repeated on the screen or into a log. */
function withoutKeys(text: string): string {
  return text
    .replace(/svc_sk_[A-Za-z0-9_-]+/g, 'svc_sk_…')
    .replace(/-----BEGIN[\s\S]*/, '-----BEGIN …');
}
