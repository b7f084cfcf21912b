import type { Money } from '../../rules/money.ts';

/** The names of the checks, which scripts rely on. */
export type CheckId =
  | 'open_requests'
  | 'rented_elsewhere'
  | 'running_long'
  | 'ended_but_charged'
  | 'other_api_keys'
  | 'unexplained_charges'
  | 'reserved_balance';

export interface Check {
  readonly check: CheckId;
  /** `unknown`: the check could not be made. */
  readonly result: 'ok' | 'finding' | 'unknown';
  /** One or two sentences. */
  readonly message: string;
  /** The evidence, one per line. Texts of the service are quoted. */
  readonly evidence: readonly string[];
  /** The finding's cost in roubles per hour; undefined if unknown. */
  readonly perHour: Money | undefined;
  readonly command: string | undefined;
}

type More = Partial<Pick<Check, 'evidence' | 'perHour' | 'command'>>;

/** The three results of one check. */
export function resultsOf(check: CheckId) {
  const made =
    (result: Check['result']) =>
    (message: string, more: More = {}): Check => ({
      check,
      result,
      message,
      evidence: more.evidence ?? [],
      perHour: more.perHour,
      command: more.command,
    });
  return { ok: made('ok'), finding: made('finding'), unknown: made('unknown') };
}
