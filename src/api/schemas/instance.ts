import { lazy } from '../../lazy.ts';
import * as z from '../../zod.ts';
import { instanceSshKey } from './account.ts';
import { count, fields, type Infer } from './fields.ts';

/** API document: Resources, GPU model. */
const gpuModel = lazy(() => {
  const { text, number } = fields();
  return z.looseObject({
    id: text,
    name: text,
    slug: text,
    description: text,
    vram_gb: number,
    created_at: text,
    updated_at: text,
  });
});

/** API document: Resources, Offer. */
export const offer = lazy(() => {
  const { text, number, flag, open } = fields();
  return z.looseObject({
    id: text,
    name: text,
    interconnect: text,
    provider_id: text,
    gpu_model_id: text,
    external_offer_id: text,
    in_stock: flag,
    region: text,
    gpu_count: number,
    cpu_cores: number,
    vram_gb: number,
    ram_gb: number,
    root_disk_gb: number,
    ephemeral_disk_gb: number,
    metadata: open,
    gpu_model: z.nullish(gpuModel()),
    created_at: text,
    updated_at: text,
  });
});

/** API document: Resources, Provider. */
const provider = lazy(() => {
  const { text } = fields();
  return z.looseObject({ id: text, slug: text, name: text, created_at: text, updated_at: text });
});

/** API document: Resources, Base image. */
export const baseImage = lazy(() => {
  const { text, number, flag, open } = fields();
  return z.looseObject({
    id: text,
    name: text,
    description: text,
    logo_url: text,
    os_type: text,
    distro_version: text,
    driver_version: text,
    cuda_version: text,
    supports_docker: flag,
    supports_rdp: flag,
    specs: open,
    sort_order: number,
  });
});

/**
 * API document: Resources, Instance, `connection_info`. The document does not describe the contents
 * of `endpoints` (an array) and `secrets` (an object), so both stay open.
 */
const connectionInfo = lazy(() => {
  const { text, open } = fields();
  return z.looseObject({ type: text, secrets: open, endpoints: open });
});

/** API document: Resources, Instance. */
export const instance = lazy(() => {
  const { id, text, number, open } = fields();
  return z.looseObject({
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
    connection_info: z.nullish(connectionInfo()),
    application_template: open,
    storage_drive: open,
    offer: z.nullish(offer()),
    provider: z.nullish(provider()),
    base_image: z.nullish(baseImage()),
    ssh_keys: z.nullish(z.array(instanceSshKey())),
    paid_until: text,
    last_billed_at: text,
    started_at: text,
    terminated_at: text,
    created_at: text,
    updated_at: text,
  });
});

/** API document: Endpoints, the responses of start, stop and terminate. */
export const statusChange = lazy(() =>
  z.looseObject({ status: z.string(), paid_until: fields().text }),
);

/** API document: Resources, Instance event. */
export const instanceEvent = lazy(() => {
  const { id, text, open } = fields();
  return z.looseObject({
    id,
    instance_id: text,
    type: text,
    message: text,
    payload: open,
    created_at: text,
  });
});
export const instanceEvents = lazy(() => z.array(instanceEvent()));

/** API document: Endpoints, GET /instances/{id}/events. */
export const eventsQuery = lazy(() => z.strictObject({ page: count(), limit: count() }));

export type Offer = Infer<typeof offer>;
export type Provider = Infer<typeof provider>;
export type BaseImage = Infer<typeof baseImage>;
export type Instance = Infer<typeof instance>;
export type StatusChange = Infer<typeof statusChange>;
export type InstanceEvent = Infer<typeof instanceEvent>;
export type EventsQuery = Infer<typeof eventsQuery>;
