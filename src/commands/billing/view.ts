import type { PromoBonus, Transaction, User } from '../../api/index.ts';
import type { View } from '../../output/output.ts';

export const balanceView: View<User> = {
  columns: [
    { id: 'balance', header: 'WALLET BALANCE', kind: 'money', value: (u) => u.balance },
    { id: 'reserved_balance', header: 'RESERVED', kind: 'money', value: (u) => u.reserved_balance },
    { id: 'total_balance', header: 'TOTAL', kind: 'money', value: (u) => u.total_balance },
  ],
  id: (u) => u.id,
  empty: 'No profile.',
};

export const transactionView: View<Transaction> = {
  columns: [
    { id: 'created_at', header: 'TIME', kind: 'time', value: (t) => t.created_at },
    { id: 'type', header: 'TYPE', value: (t) => t.type },
    { id: 'status', header: 'STATUS', kind: 'status', value: (t) => t.status },
    { id: 'direction', header: 'DIRECTION', value: (t) => t.direction },
    { id: 'amount', header: 'AMOUNT', kind: 'money', value: (t) => t.amount },
    { id: 'description', header: 'DESCRIPTION', value: (t) => t.description },
    { id: 'id', header: 'ID', value: (t) => t.id, hidden: true },
  ],
  id: (t) => t.id,
  empty: 'No matching transactions.',
};

export const promoView: View<PromoBonus> = {
  columns: [
    { id: 'added_amount', header: 'ADDED', kind: 'money', value: (p) => p.added_amount },
    { id: 'new_balance', header: 'NEW BALANCE', kind: 'money', value: (p) => p.new_balance },
  ],
  id: () => null,
  empty: 'Nothing was added.',
};
