import { badRequest, notFound } from '../refusal.ts';
import type { State } from '../store/state.ts';
import { iso } from '../time.ts';
import { hashOf } from './api-keys.ts';
import { available, reserved, roubles, text, topUp, total } from './ledger.ts';

/** A new account's password, so that users can try changing it. */
export const SANDBOX_PASSWORD = 'sandbox-password';

/** Changes the name, the only field that can be changed (PATCH /users/me). */
export function renameUser(state: State, name: string, now: number): void {
  state.account.name = name;
  state.account.updatedAt = now;
}

/** Changes the password (POST /users/me/update-password). */
export function updatePassword(state: State, current: string, next: string, now: number): void {
  if (hashOf(current) !== state.account.passwordHash) {
    throw badRequest('current_password is wrong');
  }
  state.account.passwordHash = hashOf(next);
  state.account.updatedAt = now;
}

/**
 * Returns the user (API document: User). `balance` is the wallet balance: available plus reserved.
 */
export function userView(state: State): Record<string, unknown> {
  const { account } = state;
  return {
    id: account.id,
    role: 'USER',
    name: account.name,
    // Differs between sandboxes, so that users can tell two accounts apart.
    email: `sandbox-${account.id.slice(0, 8)}@example.com`,
    yandex_id: null,
    github_id: null,
    balance: text(total(state)),
    is_active: true,
    is_email_verified: true,
    has_password: true,
    notify_billing: true,
    notify_marketing: false,
    verified_at: iso(account.createdAt),
    last_login_at: iso(account.createdAt),
    created_at: iso(account.createdAt),
    updated_at: iso(account.updatedAt),
  };
}

/**
 * Returns the response to a profile update, in which `balance` is the available funds (API
 * document: User).
 */
export function updatedUserView(state: State): Record<string, unknown> {
  return {
    ...userView(state),
    balance: text(available(state)),
    reserved_balance: text(reserved(state)),
    total_balance: text(total(state)),
  };
}

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

/**
 * Activates a promo code (POST /billing/promo/activate). Errors: 404 unknown; 400 expired,
 * exhausted, already activated.
 */
export function activatePromo(state: State, code: string, now: number): Record<string, unknown> {
  const promo = PROMO_CODES.find((one) => one.code === code);
  if (promo === undefined) throw notFound('Promo code not found');
  if (promo.state === 'expired') throw badRequest('The promo code has expired');
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
