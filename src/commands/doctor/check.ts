import { hintOf } from '../../cli/hints.ts';
import type { Settings } from '../../config/resolve.ts';
import type { Context } from '../../context.ts';
import { CliError, isInterrupt } from '../../errors.ts';

/** What a check found. */
export interface Finding {
  readonly status: 'pass' | 'warn' | 'fail';
  readonly message: string;
  /** What to do about it; null when nothing needs doing. */
  readonly hint: string | null;
}

/** A finding in the report. The ids and the JSON form are a contract with scripts. */
export interface Check extends Finding {
  readonly id: string;
}

/** Checks by their ids. An error that one throws is its finding. */
export type Checks = Readonly<Record<string, () => Finding | Promise<Finding>>>;

export function pass(message: string): Finding {
  return { status: 'pass', message, hint: null };
}

export function warn(message: string, hint: string | null = null): Finding {
  return { status: 'warn', message, hint };
}

export function fail(message: string, hint: string | null = null): Finding {
  return { status: 'fail', message, hint };
}

export function notChecked(reason: string): Finding {
  return warn(`not checked: ${reason}`);
}

/** The finding that an error is. Ctrl-C and its like are none, and are thrown on. */
export function failWith(error: unknown): Finding {
  if (error instanceof CliError) {
    if (isInterrupt(error)) throw error;
    return fail(error.message, hintOf(error) ?? null);
  }
  return fail(`an unexpected error: ${error instanceof Error ? error.message : String(error)}`);
}

/** The settings that commands use, or undefined when they have a fault: the check `profile` shows it. */
export async function settingsOf(context: Context): Promise<Settings | undefined> {
  try {
    return await context.settings();
  } catch {
    // A key that can't be fetched leaves the rest as it is: the check `api_key` shows why.
    return await context.settings({ key: false }).catch(() => undefined);
  }
}
