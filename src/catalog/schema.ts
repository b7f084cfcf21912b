import * as z from 'zod/mini';
import { lazy } from '../lazy.ts';

const nameRecord = lazy(() => {
  const text = z.optional(z.string());
  return z.looseObject({
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
});

const fileSchema = lazy(() =>
  z.looseObject({ version: z.literal(1), names: z.array(nameRecord()) }),
);

/** A line of catalog.json: what is known of one offer or image of one service. */
export type NameRecord = z.infer<ReturnType<typeof nameRecord>>;
export type CatalogFile = z.infer<ReturnType<typeof fileSchema>>;

export type Judged =
  | { readonly ok: true; readonly file: CatalogFile }
  /** Where the fault lies: `names.3.id`, or `the whole`. */
  | { readonly ok: false; readonly part: string };

export function judge(value: unknown): Judged {
  const verdict = fileSchema().safeParse(value);
  return verdict.success
    ? { ok: true, file: verdict.data }
    : { ok: false, part: verdict.error.issues[0]?.path.map(String).join('.') || 'the whole' };
}
