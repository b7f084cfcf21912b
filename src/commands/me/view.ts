import type { User } from '../../api/index.ts';
import type { Column, DetailLine, Section, View } from '../../output/output.ts';

/** A service that repeats what it was sent must not bring a password onto a screen. */
const SECRETS = ['current_password', 'new_password', 'password'] as const;

/** The fields that only `--columns` shows, as they come. */
const HIDDEN = [
  ['RESERVED', 'money', 'reserved_balance'],
  ['TOTAL', 'money', 'total_balance'],
  ['ID', 'text', 'id'],
  ['ACTIVE', 'yes', 'is_active'],
  ['VERIFIED', 'yes', 'is_email_verified'],
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

function sectionsOf(balance: string): readonly Section<User>[] {
  return [
    {
      lines: (u) => [
        { label: 'Name', value: u.name },
        { label: 'Email', value: u.email },
        { label: 'ID', value: u.id },
        { label: 'Role', value: u.role },
        {
          label: 'Active',
          value: u.is_active === false ? 'no: the account is blocked' : yes(u.is_active),
        },
        { label: 'Email verified', value: u.is_email_verified, kind: 'yes' },
        {
          label: 'Password',
          value:
            u.has_password === false
              ? 'none: signed in through another service'
              : yes(u.has_password),
        },
        { label: 'Yandex id', value: u.yandex_id },
        { label: 'GitHub id', value: u.github_id },
      ],
    },
    {
      heading: 'Money',
      lines: (u): readonly DetailLine[] => [
        { label: balance, value: u.balance, kind: 'money' },
        { label: 'Reserved', value: u.reserved_balance, kind: 'money' },
        { label: 'Total', value: u.total_balance, kind: 'money' },
      ],
    },
    {
      heading: 'Mail',
      lines: (u) => [
        { label: 'About billing', value: u.notify_billing, kind: 'yes' },
        { label: 'News and offers', value: u.notify_marketing, kind: 'yes' },
      ],
    },
    {
      heading: 'Times',
      lines: (u) => [
        { label: 'Registered', value: u.created_at, kind: 'time' },
        { label: 'Verified', value: u.verified_at, kind: 'time' },
        { label: 'Last sign-in', value: u.last_login_at, kind: 'time' },
        { label: 'Updated', value: u.updated_at, kind: 'time' },
      ],
    },
  ];
}

function yes(value: boolean | null | undefined): string | null {
  return value == null ? null : value ? 'yes' : 'no';
}

function viewOf(balance: string): View<User> {
  return {
    columns: columnsOf(balance),
    id: (u) => u.id,
    empty: 'There is no profile.',
    sections: sectionsOf(balance),
    secrets: SECRETS,
  };
}

/** The profile as `GET /users/me` gives it. */
export const profileView = viewOf('Wallet balance');

/** The answer of `PATCH /users/me`. */
export const updatedView = viewOf('Available');
