import type { Clock } from '../clock.ts';
import type { CliError } from '../errors.ts';

export interface Faulted<L> {
  readonly log: L;
  readonly error: CliError;
}

export interface PatienceOptions<L> {
  readonly clock: Pick<Clock, 'now'>;
  readonly tell: {
    lost(logs: readonly L[], error: CliError): void;
    back(after: number): void;
    gone(log: L, error: CliError): void;
  };
}

/** What a round of readings came to. */
export interface Met<L> {
  /** These need not be read any more. */
  readonly gone: ReadonlySet<L>;
  /** Milliseconds that the service asked to wait. */
  readonly atLeast: number;
  /** What waiting does not mend. */
  readonly fatal: CliError | undefined;
}

/** So many answers in a row that make no sense are no passing fault any more. */
const ODD_ANSWERS = 5;

/** A machine that was there is gone when so many answers in a row say so. */
const GONE_ANSWERS = 2;

/**
 * Tells the faults that waiting may mend from the others, in the rounds of readings of several
 * things. A fault before anything could be read is told at once, as by a command that reads once: it
 * is likelier a slip than an outage.
 */
export function createPatience<L extends { hasStarted(): boolean }>({
  clock,
  tell,
}: PatienceOptions<L>) {
  const odd = new Map<L, number>();
  const missing = new Map<L, number>();
  let lostAt: number | undefined;

  let hasStarted = false;

  function isPassing({ log, error }: Faulted<L>): boolean {
    if (!hasStarted) return false;
    if (error.failure === 'notUnderstood') return again(odd, log) < ODD_ANSWERS;
    return error.retryable || error.failure === 'unreachable';
  }

  return {
    meet(looks: readonly ({ readonly log: L } | Faulted<L>)[]): Met<L> {
      const gone = new Set<L>();
      const lost: Faulted<L>[] = [];
      let fatal: CliError | undefined;
      hasStarted ||= looks.some(({ log }) => log.hasStarted());
      for (const look of looks) {
        const { log } = look;
        if (!('error' in look)) {
          odd.delete(log);
          missing.delete(log);
        } else if (look.error.failure === 'notFound') {
          if (log.hasStarted() && again(missing, log) < GONE_ANSWERS) continue;
          gone.add(log);
          tell.gone(log, look.error);
        } else if (isPassing(look)) {
          lost.push(look);
        } else {
          fatal ??= look.error;
        }
      }
      if (fatal !== undefined) return { gone, atLeast: 0, fatal };
      const [first] = lost;
      if (first !== undefined && lostAt === undefined) {
        lostAt = clock.now();
        tell.lost(
          lost.map(({ log }) => log),
          first.error,
        );
      } else if (first === undefined && lostAt !== undefined) {
        tell.back(clock.now() - lostAt);
        lostAt = undefined;
      }
      const asked = lost.map(({ error }) => error.retryAfterMs ?? 0);
      return { gone, atLeast: Math.max(0, ...asked), fatal };
    },
  };
}

/** Counts what happened once more. */
function again<L>(counts: Map<L, number>, log: L): number {
  const count = (counts.get(log) ?? 0) + 1;
  counts.set(log, count);
  return count;
}
