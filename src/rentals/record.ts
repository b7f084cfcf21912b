import * as z from 'zod/mini';

/** What was last seen of a machine, so that a list can say something while it can't be reached. */
const snapshotSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  price_per_hour: z.optional(z.nullable(z.string())),
  offer_name: z.optional(z.nullable(z.string())),
  created_at: z.optional(z.nullable(z.string())),
  seen_at: z.string(),
});

/**
 * One file of the journal: what was asked for, then what came of it, then what was last seen.
 * Fields of newer versions stay where they are.
 */
const recordSchema = z.looseObject({
  version: z.literal(1),
  operation: z.enum(['create', 'reorder', 'track', 'drive']),
  name: z.string(),
  asked_at: z.string(),
  pid: z.number(),
  offer_id: z.optional(z.nullable(z.string())),
  outcome: z.optional(
    z.looseObject({
      kind: z.enum(['rented', 'refused', 'not_sent', 'unknown']),
      id: z.optional(z.string()),
      at: z.string(),
    }),
  ),
  machine: z.optional(snapshotSchema),
});

export type Snapshot = z.infer<typeof snapshotSchema>;
export type RentalRecord = z.infer<typeof recordSchema>;
export type Outcome = NonNullable<RentalRecord['outcome']>['kind'];

/** Reads a file of the journal; undefined for one that is torn or not ours, which spoils only itself. */
export function parseRecord(text: string): RentalRecord | undefined {
  try {
    const result = recordSchema.safeParse(JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}
