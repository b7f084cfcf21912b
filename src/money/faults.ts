import { type CliError, throwAll } from '../errors.ts';

export type Part = 'profile' | 'instances' | 'drives' | 'transactions';

/** Why a part of an account could not be read. */
export interface PartFault {
  readonly part: Part;
  readonly error: CliError;
}

const NAMES: Readonly<Record<Part, string>> = {
  profile: 'the balance',
  instances: 'instances',
  drives: 'the drives',
  transactions: 'the transactions',
};

/** Groups parts that failed in the same way, with their names: `The drives, the transactions`. */
export function alikeFaults(faults: readonly PartFault[]) {
  const alike = new Map<string, { error: CliError; parts: Part[] }>();
  for (const { part, error } of faults) {
    const key = `${error.failure} ${error.message}`;
    const group = alike.get(key) ?? { error, parts: [] };
    group.parts.push(part);
    alike.set(key, group);
  }
  return [...alike.values()].map(({ error, parts }) => {
    const names = parts.map((part) => NAMES[part]).join(', ');
    return { names: `${names.slice(0, 1).toUpperCase()}${names.slice(1)}`, parts, error };
  });
}

/** Throws after a command has shown what it could read. The worst fault decides the exit code. */
export function assertWhole(faults: readonly PartFault[]): void {
  throwAll(
    alikeFaults(faults).map(({ names, error }) =>
      error.with(`${names} could not be read (the rest is shown): ${error.message}`),
    ),
  );
}
