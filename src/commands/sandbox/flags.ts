import { Option } from '../../command-line/command.ts';
import { ruled } from '../../command-line/parse.ts';
import { kopecksText, money, positiveMoney } from '../../rules/money.ts';
import { wholeNumber } from '../../rules/numbers.ts';
import { broken, kept, type Verdict } from '../../rules/rule.ts';
import { duration } from '../../rules/times.ts';
import type { Fault } from '../../sandbox/index.ts';
import { FAULTS } from '../../sandbox/service/faults.ts';

/** Failures for `fail`. */
export const FAULT_NAMES = Object.keys(FAULTS).filter((name): name is Fault =>
  Object.hasOwn(FAULTS, name),
);

/**
 * Selects a sandbox of this computer; undefined selects the built-in profile's. Each call creates
 * an option, since commander modifies it.
 */
export function stateOption() {
  return new Option(
    '--state <file>',
    'state file (default: the state of the profile "sandbox")',
  ).argParser(ruled('--state', fileName));
}

function fileName(text: string): Verdict<string> {
  return text === '' ? broken('must not be empty') : kept(text);
}

const FASTEST = 1_000_000;

/** Parses virtual seconds per second; 0 stops the clock. */
export function speed(text: string): Verdict<number> {
  const value = Number(text);
  return /^[0-9]{1,7}(\.[0-9]{1,6})?$/.test(text) && value <= FASTEST
    ? kept(value)
    : broken(
        `must be a decimal number from 0 (stops the clock) to ${FASTEST}, in virtual seconds per second`,
      );
}

/** Parses a port to listen on; 0 selects any free port. */
export function listeningPort(text: string): Verdict<number> {
  return wholeNumber(text, 0, 65_535, 'a port to listen on');
}

/** Parses the load of a GPU in percent. */
export function gpuLoad(text: string): Verdict<number | 'auto'> {
  return text === 'auto' ? kept(text) : wholeNumber(text, 0, 100, 'the load in percent, or auto,');
}

const LONGEST_ADVANCE = 366 * 86_400_000;

/** Parses a duration by which to advance the clock, into milliseconds. */
export function advanceable(text: string): Verdict<number> {
  const verdict = duration(text);
  return verdict.ok && verdict.value > LONGEST_ADVANCE ? broken('must be at most 366d') : verdict;
}

export function openingBalance(text: string): Verdict<string> {
  const verdict = money(text);
  if (!verdict.ok) return verdict;
  return verdict.value.gte(0) ? kept(kopecksText(verdict.value)) : broken('must not be negative');
}

export function depositAmount(text: string): Verdict<string> {
  const verdict = positiveMoney(text);
  return verdict.ok ? kept(kopecksText(verdict.value)) : verdict;
}
