import type { Money } from '../rules/money.ts';

/** The limits of an `mcp` session for everything that it rents. */
export interface Session {
  /** Marks its rentals in the journal. */
  readonly id: string;
  /** The number of the call that runs. */
  readonly call: number;
  readonly maxCost: Money;
  readonly maxInstances: number | undefined;
  /** When the session ends, in service time (milliseconds since 1970). */
  readonly endsAt: number;
  /** Whether its instances run on after its end, until their deadlines. */
  readonly keeps: boolean;
  /** Aborts when the session ends. */
  readonly ended: AbortSignal;
}

/** Whether a session, if any, terminates what it rented at the deadlines and at its end. */
export function endsRentals(session: Pick<Session, 'keeps'> | undefined): boolean {
  return session?.keeps === false;
}

/** Whether a session, if any, has ended, so that its commands end by themselves. */
export function hasEnded(session: Pick<Session, 'ended'> | undefined): boolean {
  return session?.ended.aborted === true;
}
