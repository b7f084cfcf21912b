import { anyName } from '../../rules/names.ts';
import {
  number as aNumber,
  type Infer,
  looseObject,
  positive,
  strictObject,
} from '../../schema/schema.ts';
import { id, number, ruled, text } from './fields.ts';

/** API document: Resources, Cloud drive. */
export const drive = looseObject({
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

/** API document: Endpoints, POST and PATCH /storage/drives. Bounds of the size are not given. */
export const driveBody = strictObject({
  name: ruled(anyName),
  size_gb: aNumber(positive()),
});

export type Drive = Infer<typeof drive>;
export type DriveBody = Infer<typeof driveBody>;
