import { type CliError, SeveralErrors } from '../errors.ts';
import type { AccountReading, Part, PartFault } from './account-reading.ts';

const WORDS: Readonly<Record<Part, string>> = {
  profile: 'the profile with the balance',
  machines: 'machines',
  drives: 'the drives',
  transactions: 'the transactions',
};

export interface AlikeFaults {
  /** `The drives, the transactions`. */
  readonly words: string;
  readonly parts: readonly Part[];
  readonly error: CliError;
}

/** Parts that failed in the same way, told together. */
export function alikeFaults(faults: readonly PartFault[]): AlikeFaults[] {
  const alike = new Map<string, { error: CliError; parts: Part[] }>();
  for (const { part, error } of faults) {
    const key = `${error.failure} ${error.message}`;
    const group = alike.get(key) ?? { error, parts: [] };
    group.parts.push(part);
    alike.set(key, group);
  }
  return [...alike.values()].map(({ error, parts }) => {
    const names = parts.map((part) => WORDS[part]).join(', ');
    return { words: `${names.slice(0, 1).toUpperCase()}${names.slice(1)}`, parts, error };
  });
}

/**
 * Ends a command that has shown what could be read: the exit code is that of the gravest fault, and
 * parts that failed in the same way are told in one line.
 */
export function assertWhole(faults: readonly PartFault[]): void {
  const [first, ...others] = alikeFaults(faults).map(worded);
  if (first === undefined) return;
  throw others.length === 0 ? first : new SeveralErrors([first, ...others]);
}

function worded({ words, error }: AlikeFaults): CliError {
  return error.with(`${words} could not be read, the rest is shown: ${error.message}`);
}

/** Whether the service told nothing at all, so that only what was seen before could be shown. */
export function isNothingRead({ user, drives, machines, faults }: AccountReading): boolean {
  const read = machines === undefined ? 0 : machines.asked - machines.faults.length;
  const parts = new Set(faults.map(({ part }) => part));
  return user === undefined && drives === undefined && read === 0 && parts.has('transactions');
}
