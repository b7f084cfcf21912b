import { hintOf } from '../../command-line/hints.ts';
import type { Settings } from '../../config/resolve.ts';
import type { Context } from '../../context.ts';
import { asCliError } from '../../errors.ts';
import type { DoctorCheck } from '../../json-results/local.ts';

/** A check's result. */
export type Finding = Omit<DoctorCheck, 'id'>;

/** Checks by ID. A thrown error becomes the check's result. */
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

/** Converts an error into a result. The command discards all results after an interrupt. */
export function failWith(error: unknown): Finding {
  const fault = asCliError(error);
  return fail(fault.message, hintOf(fault));
}

/**
 * Returns the settings for commands, or undefined if they are invalid: the `profile` check reports
 * that.
 */
export async function settingsOf(context: Context): Promise<Settings | undefined> {
  try {
    return await context.settings();
  } catch {
    // Ignores a key that can't be fetched: `api_key` reports why, and the other checks still run.
    return await context.settings({ key: false }).catch(() => undefined);
  }
}
