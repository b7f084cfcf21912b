import { parse } from '../schema/parse.ts';
import { array, type Infer, looseObject, oneOf, optional, string } from '../schema/schema.ts';

const text = optional(string());

const nameRecord = looseObject({
  /** The base URL, or `sandbox`. */
  service: string(),
  kind: oneOf('offer', 'image'),
  id: string(),
  given_name: text,
  name: text,
  region: text,
  gpu: text,
  cuda_version: text,
  price_per_hour: text,
  price_at: text,
  seen_at: text,
});

const fileSchema = looseObject({ version: oneOf(1), names: array(nameRecord) });

/** A line of catalog.json: what is known of one offer or image of one service. */
export type NameRecord = Infer<typeof nameRecord>;
export type CatalogFile = Infer<typeof fileSchema>;

export type Judged =
  | { readonly ok: true; readonly file: CatalogFile }
  /** Where the fault lies: `names.3.id`, or `the whole`. */
  | { readonly ok: false; readonly part: string };

export function judge(value: unknown): Judged {
  const verdict = parse(fileSchema, value);
  if (verdict.ok) {
    return { ok: true, file: verdict.value };
  }
  const path = verdict.faults[0].path;
  return { ok: false, part: path.length === 0 ? 'the whole' : path.map(String).join('.') };
}
