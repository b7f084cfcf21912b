import * as z from 'zod/mini';

const count = z.optional(z.number().check(z.int(), z.gte(1)));

/** API document: Endpoints, GET /instances/{id}/events. */
export const eventsQuery = z.strictObject({ page: count, limit: count });

/** API document: Endpoints, GET /billing/transactions. A type may hold no comma: it parts types. */
export const transactionsQuery = z.strictObject({
  page: count,
  limit: count,
  type: z.optional(
    z.array(z.string().check(z.regex(/^[A-Z_]+$/, { error: 'it is in capital letters' }))),
  ),
});

export type EventsQuery = z.infer<typeof eventsQuery>;
export type TransactionsQuery = z.infer<typeof transactionsQuery>;
