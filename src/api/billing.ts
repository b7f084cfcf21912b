import type { Run } from './calls/call.ts';
import { bodyOf, queryOf } from './calls/operation.ts';
import { getPage, postOnce } from './calls/perform.ts';
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

export function billingApi(run: Run) {
  return {
    /**
     * Applies a promo code (API document: Endpoints, POST /billing/promo/activate). Never sent again once
     * it may have left; an unknown outcome is CliError `outcomeUnknown`.
     */
    activatePromo: (body: ActivatePromoBody, options?: CallOptions): Promise<PromoBonus> =>
      run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /billing/promo/activate',
            doing: 'to apply the promo code',
            body: bodyOf(activatePromoBody, body),
            doubt: 'The bonus may have been credited.',
            missing: 'Promo code not found',
          },
          promoBonus,
        ),
      ),

    /** Reads one page of the history (API document: Endpoints, GET /billing/transactions). */
    transactions: (
      query: TransactionsQuery = {},
      options?: CallOptions,
    ): Promise<Page<Transaction>> =>
      run(options, (call) =>
        getPage(
          call,
          {
            heading: 'GET /billing/transactions',
            doing: 'to list the transactions',
            query: queryOf(transactionsQuery, query),
          },
          transactions,
          { page: query.page ?? 1, limit: query.limit ?? 20 },
        ),
      ),
  };
}
