import { topUp, total } from './ledger.ts';
import { badRequest, notFound } from './refusal.ts';
import { roubles, text } from './roubles.ts';
import type { State } from './state.ts';

interface PromoCode {
  code: string;
  amount: string;
  state: 'open' | 'expired' | 'exhausted';
}

const PROMO_CODES: readonly PromoCode[] = [
  { code: 'WELCOME500', amount: '500.00', state: 'open' },
  { code: 'EXPIRED2020', amount: '100.00', state: 'expired' },
  { code: 'LIMITED', amount: '1000.00', state: 'exhausted' },
];

/** POST /billing/promo/activate. Errors: 404 unknown; 400 expired, exhausted, already activated. */
export function activatePromo(state: State, code: string, now: number): Record<string, unknown> {
  const promo = PROMO_CODES.find((one) => one.code === code);
  if (promo === undefined) {
    throw notFound('Promo code not found');
  }
  if (promo.state === 'expired') {
    throw badRequest('The promo code has expired');
  }
  if (promo.state === 'exhausted') {
    throw badRequest('The usage limit of the promo code is exhausted');
  }
  if (state.account.promoCodes.includes(code)) {
    throw badRequest('The promo code was already activated by this user');
  }
  state.account.promoCodes.push(code);
  topUp(state, 'BONUS', roubles(promo.amount), `Promo code ${code}`, now);
  return { added_amount: promo.amount, new_balance: text(total(state)) };
}
