import {
  array,
  gte,
  type Infer,
  int,
  number,
  optional,
  regex,
  strictObject,
  string,
} from '../../schema/schema.ts';

const count = optional(number(int(), gte(1)));

/** API document: Endpoints, GET /instances/{id}/events. */
export const eventsQuery = strictObject({ page: count, limit: count });

/** API document: Endpoints, GET /billing/transactions. A type may hold no comma: it parts types. */
export const transactionsQuery = strictObject({
  page: count,
  limit: count,
  type: optional(array(string(regex(/^[A-Z_]+$/, 'it is in capital letters')))),
});

export type EventsQuery = Infer<typeof eventsQuery>;
export type TransactionsQuery = Infer<typeof transactionsQuery>;
