import { array, type Infer, looseObject, nullish, string } from '../../schema/schema.ts';
import { id, number, open, text } from './fields.ts';
import { baseImage, offer, provider } from './offer.ts';
import { instanceSshKey } from './ssh-key.ts';

/**
 * API document: Resources, Instance, `connection_info`. `endpoints` is documented as an array and
 * `secrets` as an object, but nothing of their insides is, so both are left open.
 */
export const connectionInfo = looseObject({ type: text, secrets: open, endpoints: open });

/** API document: Resources, Instance. */
export const instance = looseObject({
  id,
  name: text,
  status: string(),
  price_per_hour_snapshot: text,
  ip_address: text,
  ssh_username: text,
  ssh_port: number,
  external_id: text,
  docker_config: open,
  failure_reason: text,
  metadata: open,
  connection_info: nullish(connectionInfo),
  application_template: open,
  storage_drive: open,
  offer: nullish(offer),
  provider: nullish(provider),
  base_image: nullish(baseImage),
  ssh_keys: nullish(array(instanceSshKey)),
  paid_until: text,
  last_billed_at: text,
  started_at: text,
  terminated_at: text,
  created_at: text,
  updated_at: text,
});

/** API document: Endpoints, the answers of start, stop and terminate. */
export const statusChange = looseObject({ status: string(), paid_until: text });

/** API document: Resources, Instance event. */
export const instanceEvent = looseObject({
  id,
  instance_id: text,
  type: text,
  message: text,
  payload: open,
  created_at: text,
});

export type ConnectionInfo = Infer<typeof connectionInfo>;
export type Instance = Infer<typeof instance>;
export type StatusChange = Infer<typeof statusChange>;
export type InstanceEvent = Infer<typeof instanceEvent>;
