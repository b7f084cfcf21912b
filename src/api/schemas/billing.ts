import * as z from 'zod/mini';
import { filled, id, text } from './fields.ts';

/** API document: Resources, Transaction. */
export const transaction = z.looseObject({
  id,
  type: text,
  status: text,
  amount: text,
  direction: text,
  description: text,
  created_at: text,
});

/** API document: Endpoints, POST /billing/promo/activate. */
export const promoBonus = z.looseObject({ added_amount: text, new_balance: text });

/** API document: Endpoints, POST /billing/promo/activate. */
export const activatePromoBody = z.strictObject({ code: filled });

export type Transaction = z.infer<typeof transaction>;
export type PromoBonus = z.infer<typeof promoBonus>;
export type ActivatePromoBody = z.infer<typeof activatePromoBody>;
