import type { Clock } from '../clock.ts';
import type { CliError } from '../errors.ts';
import { askedPause, createPassing, type Passing } from './passing.ts';

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

/**
 * Tells the faults that waiting may mend from the others, in the rounds of readings of several
 * things. A fault before anything could be read is told at once, as by a command that reads once: it
 * is likelier a slip than an outage.
 */
export function createPatience<L extends { hasStarted(): boolean }>({
  clock,
  tell,
}: PatienceOptions<L>) {
  const passing = new Map<L, Passing>();
  let lostAt: number | undefined;
  let hasStarted = false;

  function passingOf(log: L): Passing {
    const one = passing.get(log) ?? createPassing();
    passing.set(log, one);
    return one;
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
          passing.delete(log);
        } else if (look.error.failure === 'notFound') {
          if (passingOf(log).passes(look.error, log.hasStarted())) continue;
          gone.add(log);
          tell.gone(log, look.error);
        } else if (hasStarted && passingOf(log).passes(look.error, true)) {
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
      return { gone, atLeast: askedPause(lost.map(({ error }) => error)), fatal };
    },
  };
}
