import type { User } from '../../api/index.ts';
import type { Column, View } from '../../output/output.ts';

/** A service that repeats what it was sent must not bring a password onto a screen. */
const SECRETS = ['current_password', 'new_password', 'password'] as const;

/** The fields that only `--columns` shows, as they come. */
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
 * `balance` has two meanings: the wallet balance in the profile, the available funds in the answer
 * to an update, which alone tells the reserved and the total funds (API document: User).
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
    empty: 'There is no profile.',
    secrets: SECRETS,
  };
}

/** The profile as `GET /users/me` gives it. */
export const profileView = viewOf('Wallet balance');

/** The answer of `PATCH /users/me`. */
export const updatedView = viewOf('Available');
