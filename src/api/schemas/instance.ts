import * as z from 'zod/mini';
import { id, number, open, text } from './fields.ts';
import { baseImage, offer, provider } from './offer.ts';
import { instanceSshKey } from './ssh-key.ts';

/**
 * API document: Resources, Instance, `connection_info`. `endpoints` is documented as an array and
 * `secrets` as an object, but nothing of their insides is, so both are left open.
 */
export const connectionInfo = z.looseObject({ type: text, secrets: open, endpoints: open });

/** API document: Resources, Instance. */
export const instance = z.looseObject({
  id,
  name: text,
  status: z.string(),
  price_per_hour_snapshot: text,
  ip_address: text,
  ssh_username: text,
  ssh_port: number,
  external_id: text,
  docker_config: open,
  failure_reason: text,
  metadata: open,
  connection_info: z.nullish(connectionInfo),
  application_template: open,
  storage_drive: open,
  offer: z.nullish(offer),
  provider: z.nullish(provider),
  base_image: z.nullish(baseImage),
  ssh_keys: z.nullish(z.array(instanceSshKey)),
  paid_until: text,
  last_billed_at: text,
  started_at: text,
  terminated_at: text,
  created_at: text,
  updated_at: text,
});

/** API document: Endpoints, the answers of start, stop and terminate. */
export const statusChange = z.looseObject({ status: z.string(), paid_until: text });

/** API document: Resources, Instance event. */
export const instanceEvent = z.looseObject({
  id,
  instance_id: text,
  type: text,
  message: text,
  payload: open,
  created_at: text,
});

export type ConnectionInfo = z.infer<typeof connectionInfo>;
export type Instance = z.infer<typeof instance>;
export type StatusChange = z.infer<typeof statusChange>;
export type InstanceEvent = z.infer<typeof instanceEvent>;
