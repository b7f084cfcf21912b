import * as z from 'zod/mini';
import { lazy } from '../../lazy.ts';
import { fields, filled, type Infer } from './fields.ts';
import { count } from './page.ts';

/** API document: Resources, Transaction. */
export const transaction = lazy(() => {
  const { id, text } = fields();
  return z.looseObject({
    id,
    type: text,
    status: text,
    amount: text,
    direction: text,
    description: text,
    created_at: text,
  });
});
export const transactions = lazy(() => z.array(transaction()));

/** API document: Endpoints, GET /billing/transactions. A type can't contain a comma: commas separate types. */
export const transactionsQuery = lazy(() =>
  z.strictObject({
    page: count(),
    limit: count(),
    type: z.optional(z.array(z.string().check(z.regex(/^[A-Z_]+$/, 'it is in capital letters')))),
  }),
);

/** API document: Endpoints, POST /billing/promo/activate. */
export const promoBonus = lazy(() => {
  const { text } = fields();
  return z.looseObject({ added_amount: text, new_balance: text });
});

/** API document: Endpoints, POST /billing/promo/activate. */
export const activatePromoBody = lazy(() => z.strictObject({ code: filled() }));

export type Transaction = Infer<typeof transaction>;
export type TransactionsQuery = Infer<typeof transactionsQuery>;
export type PromoBonus = Infer<typeof promoBonus>;
export type ActivatePromoBody = Infer<typeof activatePromoBody>;
