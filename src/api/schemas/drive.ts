import { lazy } from '../../lazy.ts';
import { anyName } from '../../rules/names.ts';
import * as z from '../../zod.ts';
import { fields, type Infer, ruled } from './fields.ts';

/** API document: Resources, Cloud drive. */
export const drive = lazy(() => {
  const { id, text, number } = fields();
  return z.looseObject({
    id,
    name: text,
    size_gb: number,
    s3_path: text,
    status: text,
    used_bytes: text,
    price_per_hour: text,
    last_billed_at: text,
    paid_until: text,
    current_instance_id: text,
    created_at: text,
    updated_at: text,
  });
});
export const drives = lazy(() => z.array(drive()));

/** API document: Endpoints, POST and PATCH /storage/drives. No size limits are documented. */
export const driveBody = lazy(() =>
  z.strictObject({ name: ruled(anyName), size_gb: z.number().check(z.positive()) }),
);

/** API document: Endpoints, POST /storage/drives/{id}/resume: "Body: empty object". */
export const noBody = lazy(() => z.strictObject({}));

export type Drive = Infer<typeof drive>;
export type DriveBody = Infer<typeof driveBody>;
