import type { User } from '../../api/index.ts';
import { field, type View } from '../../output/output.ts';

/**
 * `balance` has two meanings: the wallet balance in the profile, and the available funds in the
 * response to an update, the only one with reserved and total funds (API document: User).
 */
function viewOf(balance: string): View<User> {
  return {
    columns: [
      field('name', 'NAME'),
      field('email', 'EMAIL'),
      field('role', 'ROLE'),
      field('balance', balance, { kind: 'money' }),
      field('reserved_balance', 'RESERVED', { kind: 'money', hidden: true }),
      field('total_balance', 'TOTAL', { kind: 'money', hidden: true }),
      field('id', 'ID', { hidden: true }),
      field('is_active', 'ACTIVE', { kind: 'yes', hidden: true }),
      field('is_email_verified', 'EMAIL VERIFIED', { kind: 'yes', hidden: true }),
      field('has_password', 'PASSWORD', { kind: 'yes', hidden: true }),
      field('notify_billing', 'BILLING MAIL', { kind: 'yes', hidden: true }),
      field('notify_marketing', 'NEWS MAIL', { kind: 'yes', hidden: true }),
      field('yandex_id', 'YANDEX', { hidden: true }),
      field('github_id', 'GITHUB', { hidden: true }),
      field('verified_at', 'VERIFIED AT', { kind: 'time', hidden: true }),
      field('last_login_at', 'LAST LOGIN', { kind: 'time', hidden: true }),
      field('created_at', 'CREATED', { kind: 'time', hidden: true }),
      field('updated_at', 'UPDATED', { kind: 'time', hidden: true }),
    ],
    id: (user) => user.id,
    empty: 'No profile.',
    // A service may repeat a password.
    secrets: ['current_password', 'new_password', 'password'],
  };
}

/** The profile from `GET /users/me`. */
export const profileView = viewOf('WALLET BALANCE');

/** The response to `PATCH /users/me`. */
export const updatedView = viewOf('AVAILABLE');
