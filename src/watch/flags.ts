import { Option } from '../command-line/command.ts';
import { needing, ofWords, oneOf, ruled } from '../command-line/parse.ts';
import { pollInterval, positiveDuration } from '../rules/times.ts';

/** Durations in milliseconds: the limit of a wait, and the pause between two reads. */
export interface WaitTimes {
  readonly timeout: number;
  readonly interval: number;
}

/** Targets of a wait for a starting instance: the ACTIVE status, or a response from SSH. */
const STARTED = ['active', 'ssh'] as const;
export type Started = (typeof STARTED)[number];

/** Parses `--wait[=active|ssh]`; bare `--wait` has an empty value. */
export function waitStartedOption() {
  return new Option(
    '--wait [target]',
    'wait until the instance is active (--wait=ssh: until SSH responds)',
  ).argParser(
    ofWords(STARTED, (text: string) => oneOf('--wait', STARTED)(text === '' ? 'active' : text)),
  );
}

/** Returns the status for `--wait[=active|ssh]`, or undefined without the flag. */
export function statusFor(wait: Started | true | undefined): string | undefined {
  if (wait === undefined) return undefined;
  return wait === 'ssh' ? 'ssh' : 'ACTIVE';
}

export function waitTimeoutOption() {
  return new Option('--wait-timeout <duration>', 'time limit for the whole wait')
    .default(15 * 60_000, '15m')
    .argParser(needing('--wait', ruled('--wait-timeout', positiveDuration)));
}

export function pollIntervalOption() {
  return new Option('--poll-interval <duration>', 'time between requests')
    .default(2_000, '2s')
    .argParser(needing('--wait', ruled('--poll-interval', pollInterval)));
}

export function watchOption() {
  return new Option(
    '-w, --watch',
    'refresh until Ctrl-C; when not in a terminal, print each change',
  );
}

export function intervalOption() {
  return new Option('--interval <duration>', 'time between refreshes of --watch')
    .default(5_000, '5s')
    .argParser(needing('--watch', ruled('--interval', pollInterval)));
}
