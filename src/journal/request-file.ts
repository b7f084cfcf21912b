import { asIntent, asOutcome, type IntentRecord, type OutcomeRecord } from './record.ts';
import { sha256 } from './sha256.ts';

/** Bytes kept free for the outcome, its line end included. */
export const OUTCOME_ROOM = 1024;

/** A request and what became of it. */
export interface RequestRecord {
  readonly intent: IntentRecord;
  /** undefined while nothing is known, and where the room holds a torn line. */
  readonly outcome: OutcomeRecord | undefined;
}

/**
 * The file of a request is two lines of JSON, each with a check of its own text at its end:
 *
 *     {"version":1,"uid":…,"check":"0123456789abcdef"}
 *     {"kind":"rented","id":…,"check":…}               padded with spaces
 *
 * The second line is {@link OUTCOME_ROOM} blank bytes until the outcome is written over them, so
 * that a disk that fills up in between has room for it. A line that was torn does not fit its check.
 */
export function requestText(intent: IntentRecord, outcome?: OutcomeRecord): string {
  return `${checkedLine(intent)}\n${outcomeRoom(outcome)}`;
}

/** Where the room of the outcome begins, in bytes. */
export function outcomeOffset(intent: IntentRecord): number {
  return Buffer.byteLength(checkedLine(intent)) + 1;
}

/** The whole room, filled to its last byte. */
export function outcomeRoom(outcome?: OutcomeRecord): string {
  if (outcome === undefined) {
    return `${' '.repeat(OUTCOME_ROOM - 1)}\n`;
  }
  const { reason: _reason, ...bare } = outcome;
  const lines = [checkedLine(outcome), checkedLine(bare)];
  const fitting = lines.find((line) => Buffer.byteLength(line) < OUTCOME_ROOM);
  if (fitting === undefined) {
    throw new Error('the outcome is longer than the room for it');
  }
  return `${fitting}${' '.repeat(OUTCOME_ROOM - 1 - Buffer.byteLength(fitting))}\n`;
}

/** Reads such a file; undefined for one whose first line is torn or not ours. */
export function parseRequest(content: string): RequestRecord | undefined {
  const end = content.indexOf('\n');
  const intent = end < 0 ? undefined : asIntent(checkedValue(content.slice(0, end)));
  if (intent === undefined) {
    return undefined;
  }
  return { intent, outcome: asOutcome(checkedValue(content.slice(end + 1).trim())) };
}

/** The outcome alone, which has a check of its own, of a file whose first line is torn. */
export function parseOutcome(content: string): OutcomeRecord | undefined {
  const end = content.indexOf('\n');
  return end < 0 ? undefined : asOutcome(checkedValue(content.slice(end + 1).trim()));
}

function checkedLine(record: object): string {
  const json = JSON.stringify(record);
  return `${json.slice(0, -1)},"check":"${checkOf(json)}"}`;
}

function checkedValue(line: string): unknown {
  const match = /^(\{.*),"check":"([0-9a-f]{16})"\}$/.exec(line);
  const json = `${match?.[1] ?? ''}}`;
  return match !== null && checkOf(json) === match[2] ? JSON.parse(json) : undefined;
}

function checkOf(json: string): string {
  return sha256(json).slice(0, 16);
}
