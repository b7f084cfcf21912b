import type { PromoBonus, Transaction, User } from '../../api/index.ts';
import { field, type View } from '../../output/output.ts';

export const balanceView: View<User> = {
  columns: [
    field('balance', 'WALLET BALANCE', { kind: 'money' }),
    field('reserved_balance', 'RESERVED', { kind: 'money' }),
    field('total_balance', 'TOTAL', { kind: 'money' }),
  ],
  id: (u) => u.id,
  empty: 'No profile.',
};

export const transactionView: View<Transaction> = {
  columns: [
    field('created_at', 'TIME', { kind: 'time' }),
    field('type', 'TYPE'),
    field('status', 'STATUS', { kind: 'status' }),
    field('direction', 'DIRECTION'),
    field('amount', 'AMOUNT', { kind: 'money' }),
    field('description', 'DESCRIPTION'),
    field('id', 'ID', { hidden: true }),
  ],
  id: (t) => t.id,
  empty: 'No matching transactions.',
};

export const promoView: View<PromoBonus> = {
  columns: [
    field('added_amount', 'ADDED', { kind: 'money' }),
    field('new_balance', 'NEW BALANCE', { kind: 'money' }),
  ],
  id: () => null,
  empty: 'No bonus added.',
};
