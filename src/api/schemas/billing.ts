import { type Infer, looseObject, strictObject } from '../../schema/schema.ts';
import { filled, id, text } from './fields.ts';

/** API document: Resources, Transaction. */
export const transaction = looseObject({
  id,
  type: text,
  status: text,
  amount: text,
  direction: text,
  description: text,
  created_at: text,
});

/** API document: Endpoints, POST /billing/promo/activate. */
export const promoBonus = looseObject({ added_amount: text, new_balance: text });

/** API document: Endpoints, POST /billing/promo/activate. */
export const activatePromoBody = strictObject({ code: filled });

export type Transaction = Infer<typeof transaction>;
export type PromoBonus = Infer<typeof promoBonus>;
export type ActivatePromoBody = Infer<typeof activatePromoBody>;
