import { shellLine } from '../cli/shell-line.ts';
import type { Operation } from '../journal/index.ts';
import { WHAT } from './journaled-errors.ts';

/** What tells one request of unknown outcome from another. */
export interface OpenRequest {
  readonly uid: string;
  readonly name: string;
  readonly operation: Operation;
}

/**
 * The command that forgets the open requests of that kind and name, and none of another kind: by
 * the name where it is enough, as a person types it, and by their uids where it is not.
 */
export function forgetLine(one: OpenRequest, open: readonly OpenRequest[]): string {
  const ofName = open.filter(({ name }) => name === one.name);
  const ofKind = ofName.filter(({ operation }) => WHAT[operation] === WHAT[one.operation]);
  // A name that begins as a flag does would be read as one.
  const isEnough = ofName.length === ofKind.length && !one.name.startsWith('-');
  return untrackLine(isEnough ? [one.name] : ofKind.map(({ uid }) => uid));
}

/** The command that forgets exactly what is named. */
export function untrackLine(words: readonly string[]): string {
  return shellLine(['gpucloud', 'instances', 'untrack', ...words]);
}
