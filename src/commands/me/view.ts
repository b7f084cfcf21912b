import type { User } from '../../api/index.ts';
import type { Column, View } from '../../output/output.ts';

/** Masks a password that the service repeats. */
const SECRETS = ['current_password', 'new_password', 'password'] as const;

/** Fields that only `--columns` shows. */
const HIDDEN = [
  ['RESERVED', 'money', 'reserved_balance'],
  ['TOTAL', 'money', 'total_balance'],
  ['ID', 'text', 'id'],
  ['ACTIVE', 'yes', 'is_active'],
  ['EMAIL VERIFIED', 'yes', 'is_email_verified'],
  ['PASSWORD', 'yes', 'has_password'],
  ['BILLING MAIL', 'yes', 'notify_billing'],
  ['NEWS MAIL', 'yes', 'notify_marketing'],
  ['YANDEX', 'text', 'yandex_id'],
  ['GITHUB', 'text', 'github_id'],
  ['VERIFIED AT', 'time', 'verified_at'],
  ['LAST LOGIN', 'time', 'last_login_at'],
  ['CREATED', 'time', 'created_at'],
  ['UPDATED', 'time', 'updated_at'],
] as const;

/**
 * `balance` has two meanings: the wallet balance in the profile, and the available funds in the
 * response to an update, the only one with reserved and total funds (API document: User).
 */
function columnsOf(balance: string): readonly Column<User>[] {
  return [
    { id: 'name', header: 'NAME', value: (u) => u.name },
    { id: 'email', header: 'EMAIL', value: (u) => u.email },
    { id: 'role', header: 'ROLE', value: (u) => u.role },
    { id: 'balance', header: balance.toUpperCase(), kind: 'money', value: (u) => u.balance },
    ...HIDDEN.map(
      ([header, kind, id]): Column<User> => ({
        id,
        header,
        kind,
        value: (user) => user[id],
        hidden: true,
      }),
    ),
  ];
}

function viewOf(balance: string): View<User> {
  return {
    columns: columnsOf(balance),
    id: (u) => u.id,
    empty: 'No profile.',
    secrets: SECRETS,
  };
}

/** The profile from `GET /users/me`. */
export const profileView = viewOf('Wallet balance');

/** The response to `PATCH /users/me`. */
export const updatedView = viewOf('Available');
