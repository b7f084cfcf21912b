import type { Money } from '../../rules/money.ts';
import type { Instance, State } from '../store/state.ts';
import { HOUR, SECOND } from '../time.ts';
import { record } from './events.ts';
import { addAvailable, enter, roubles, text } from './ledger.ts';

/** big.js mode that rounds a half up. */
const HALF_UP = 1;

/** Holds the price of one hour; the caller has checked the funds. */
export function reserveHour(state: State, instance: Instance, at: number): void {
  const price = roubles(instance.price);
  addAvailable(state, price.times(-1));
  instance.reserved = text(price);
  record(instance, 'BILLING', `Reserved ${instance.price} ₽ for one hour`, at, {
    action: 'reserve',
    amount: instance.price,
  });
}

/** Starts the paid hour at a moment. */
export function beginHour(instance: Instance, at: number): void {
  instance.hourEndsAt = at + HOUR;
  instance.paidUntil = at + HOUR;
  instance.updatedAt = at;
}

/** Charges the whole reserved hour at its end. */
export function chargeHour(state: State, instance: Instance, at: number): void {
  charge(state, instance, roubles(instance.reserved), at);
  instance.hourEndsAt = null;
}

/**
 * Ends the hour early: charges the used seconds and returns the rest to the available funds (API
 * document: POST /instances/{id}/terminate). Returns the charged amount.
 */
export function closeHour(state: State, instance: Instance, at: number): Money {
  const used = usedOf(instance, at);
  charge(state, instance, used, at);
  if (instance.hourEndsAt !== null) {
    instance.hourEndsAt = null;
    instance.paidUntil = at;
  }
  releaseReserved(state, instance, at);
  return used;
}

/** Releases the funds that are still held. */
export function releaseReserved(state: State, instance: Instance, at: number): void {
  const rest = roubles(instance.reserved);
  if (rest.lte(0)) return;
  addAvailable(state, rest);
  instance.reserved = text(rest.minus(rest));
  record(instance, 'BILLING', `Returned ${text(rest)} ₽ to the balance`, at, {
    action: 'release',
    amount: text(rest),
  });
}

/**
 * Returns the price of the used share of the running hour, by whole seconds, rounded to the kopeck.
 */
function usedOf(instance: Instance, at: number): Money {
  const held = roubles(instance.reserved);
  if (instance.hourEndsAt === null) return held.minus(held);
  const elapsed = Math.max(0, at - (instance.hourEndsAt - HOUR));
  const seconds = Math.floor(elapsed / SECOND);
  const used = roubles(instance.price).times(seconds).div(3600).round(2, HALF_UP);
  // Rounding up must not exceed the held amount.
  return used.gt(held) ? held : used;
}

function charge(state: State, instance: Instance, amount: Money, at: number): void {
  if (amount.lte(0)) return;
  instance.reserved = text(roubles(instance.reserved).minus(amount));
  instance.lastBilledAt = at;
  instance.updatedAt = at;
  enter(state, 'USAGE_CHARGE', amount, `Rent of instance ${instance.name}`, at);
  record(instance, 'BILLING', `Charged ${text(amount)} ₽`, at, {
    action: 'charge',
    amount: text(amount),
  });
}
