import type { Run } from './calls/call.ts';
import { getPage, postOnce } from './calls/perform.ts';
import { bodyOf, queryOf } from './calls/request.ts';
import type { CallOptions, Page } from './contract.ts';
import {
  type ActivatePromoBody,
  activatePromoBody,
  type PromoBonus,
  promoBonus,
  type Transaction,
  type TransactionsQuery,
  transactions,
  transactionsQuery,
} from './schemas/billing.ts';

export interface BillingApi {
  /**
   * Applies a promo code (API document: Endpoints, POST /billing/promo/activate). Never sent again
   * once it may have left; a doubt is CliError `outcomeUnknown`.
   */
  activatePromo(body: ActivatePromoBody, options?: CallOptions): Promise<PromoBonus>;
  /** One page of the history (API document: Endpoints, GET /billing/transactions). */
  transactions(query?: TransactionsQuery, options?: CallOptions): Promise<Page<Transaction>>;
}

export function billingApi(run: Run): BillingApi {
  return {
    activatePromo(body, options) {
      return run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /billing/promo/activate',
            doing: 'to activate the promo code',
            changes: true,
            doubt: 'The bonus may have been credited.',
            missing: 'There is no such promo code',
          },
          {
            method: 'POST',
            path: '/billing/promo/activate',
            body: bodyOf(activatePromoBody, body),
          },
          promoBonus,
        ),
      );
    },
    transactions(query = {}, options) {
      return run(options, (call) =>
        getPage(
          call,
          {
            heading: 'GET /billing/transactions',
            doing: 'to list the transactions',
            changes: false,
          },
          {
            method: 'GET',
            path: `/billing/transactions${queryOf(transactionsQuery, query)}`,
          },
          transactions,
          { page: query.page ?? 1, limit: query.limit ?? 20 },
        ),
      );
    },
  };
}
