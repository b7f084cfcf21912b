import * as z from 'zod/mini';

const text = z.optional(z.string());

const nameRecord = z.looseObject({
  /** The base URL, or `sandbox`. */
  service: z.string(),
  kind: z.enum(['offer', 'image']),
  id: z.string(),
  given_name: text,
  name: text,
  region: text,
  gpu: text,
  cuda_version: text,
  price_per_hour: text,
  price_at: text,
  seen_at: text,
});

const fileSchema = z.looseObject({ version: z.literal(1), names: z.array(nameRecord) });

/** A line of catalog.json: what is known of one offer or image of one service. */
export type NameRecord = z.infer<typeof nameRecord>;
export type CatalogFile = z.infer<typeof fileSchema>;

export type Judged =
  | { readonly ok: true; readonly file: CatalogFile }
  /** Where the fault lies: `names.3.id`, or `the whole`. */
  | { readonly ok: false; readonly part: string };

export function judge(value: unknown): Judged {
  const verdict = fileSchema.safeParse(value);
  if (verdict.success) {
    return { ok: true, file: verdict.data };
  }
  const path = verdict.error.issues[0]?.path ?? [];
  return { ok: false, part: path.length === 0 ? 'the whole' : path.map(String).join('.') };
}
