import { CliError, isInterrupt } from '../../errors.ts';

export type Verdict = 'pass' | 'warn' | 'fail';

/** One finding. The ids and the JSON form are a contract with scripts. */
export interface Check {
  readonly id: string;
  readonly status: Verdict;
  readonly message: string;
  /** What to do about it; null where nothing needs doing. */
  readonly hint: string | null;
}

/** A look at one matter that gives one finding for each of the ids, in their order. */
export interface Look {
  readonly ids: readonly [string, ...string[]];
  make(): Promise<readonly Check[]>;
}

export function pass(id: string, message: string): Check {
  return { id, status: 'pass', message, hint: null };
}

export function warn(id: string, message: string, hint: string | null = null): Check {
  return { id, status: 'warn', message, hint };
}

export function fail(id: string, message: string, hint: string | null = null): Check {
  return { id, status: 'fail', message, hint };
}

export function notChecked(id: string, reason: string): Check {
  return warn(id, `not checked: ${reason}`);
}

/** The finding that an error is. Ctrl-C and its like are none, and are thrown on. */
export function failWith(id: string, error: unknown): Check {
  if (error instanceof CliError) {
    if (isInterrupt(error)) throw error;
    return fail(id, error.message, error.hint ?? null);
  }
  return fail(id, `an unexpected error: ${error instanceof Error ? error.message : String(error)}`);
}

/** What a deadline rejects with. */
export class Late extends Error {}

/**
 * Makes a look that always comes to an end with a finding for each id: an error is one, and so is
 * that nothing was found by the time `deadline` rejects.
 */
export async function settled(
  { ids, make }: Look,
  deadline: Promise<never>,
): Promise<readonly Check[]> {
  const [first, ...others] = ids;
  try {
    return await Promise.race([make(), deadline]);
  } catch (error) {
    if (error instanceof Late) {
      return ids.map((id) => fail(id, 'not finished within the time of --timeout'));
    }
    return [
      failWith(first, error),
      ...others.map((id) => notChecked(id, `${first} could not be told`)),
    ];
  }
}
