import type { KnownInstance } from '../journal/index.ts';
import { isBeginning, isSameId, isSameName } from '../rules/names.ts';
import { isTerminated } from '../rules/statuses.ts';

/** An instance, or something stored for one. */
interface Named {
  readonly id: string;
  readonly name: string;
}

export interface Match<T> {
  /** What the text is: an ID, a name, one's ID and another's name, or the beginning of an ID. */
  readonly by: 'id' | 'name' | 'both' | 'beginning' | 'nothing';
  /** None, one, or several that nothing tells apart. */
  readonly fitting: readonly T[];
}

/**
 * Finds what a text means: an ID or a name in any case, otherwise the beginning of an ID. `meant`
 * chooses among several with the same name or beginning.
 */
export function match<T extends Named>(
  typed: string,
  known: readonly T[],
  meant: (fitting: readonly T[], by: 'name' | 'beginning') => readonly T[],
): Match<T> {
  const own = known.filter(({ id }) => isSameId(id, typed));
  const named = known.filter(({ id, name }) => isSameName(name, typed) && !isSameId(id, typed));
  if (own.length > 0) {
    return { by: named.length > 0 ? 'both' : 'id', fitting: [...own, ...named] };
  }
  if (named.length > 0) return { by: 'name', fitting: meant(named, 'name') };
  const begun = known.filter(({ id }) => isBeginning(typed, id));
  return begun.length === 0
    ? { by: 'nothing', fitting: [] }
    : { by: 'beginning', fitting: meant(begun, 'beginning') };
}

/**
 * Finds the instance that a text means. Among several, prefers one that is not TERMINATED. But a
 * change never moves from a terminated instance of this computer to another one with its name: so
 * terminating a name twice terminates only one instance.
 */
export function matchInstance(
  typed: string,
  known: readonly KnownInstance[],
  isChange: boolean,
): Match<KnownInstance> {
  return match(typed, known, (fitting, by) => {
    const living = fitting.filter(({ last }) => !isTerminated(last?.status));
    const over = fitting.filter(({ last }) => isTerminated(last?.status));
    const order = [living.filter(({ untracked }) => !untracked), living, over.filter(isOwn)];
    const first = order.find(({ length }) => length > 0) ?? over;
    if (by === 'beginning' || !isChange || first.some(isOwn)) return first;
    return [...new Set([...over.filter(isOwn), ...first])];
  });
}

/**
 * Returns the words before `--` if all of them are known instances: people type `A B -- COMMAND` to
 * run a command on several.
 */
export function instancesBefore(
  words: readonly string[],
  known: readonly KnownInstance[],
): readonly string[] {
  const others = words.slice(0, Math.max(0, words.indexOf('--')));
  const isKnown = (word: string) => matchInstance(word, known, false).fitting.length > 0;
  return others.every(isKnown) ? others : [];
}

/** Whether the instance was rented or tracked on this computer, and not untracked since. */
export function isOwn({ origin, untracked }: KnownInstance): boolean {
  return !untracked && origin !== 'read';
}
