import * as z from 'zod/mini';
import { flag, number, open, text } from './fields.ts';

/** API document: Resources, GPU model. */
export const gpuModel = z.looseObject({
  id: text,
  name: text,
  slug: text,
  description: text,
  vram_gb: number,
  created_at: text,
  updated_at: text,
});

/** API document: Resources, Offer. */
export const offer = z.looseObject({
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
  gpu_model: z.nullish(gpuModel),
  created_at: text,
  updated_at: text,
});

/** API document: Resources, Provider. */
export const provider = z.looseObject({
  id: text,
  slug: text,
  name: text,
  created_at: text,
  updated_at: text,
});

/** API document: Resources, Base image. */
export const baseImage = z.looseObject({
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

export type GpuModel = z.infer<typeof gpuModel>;
export type Offer = z.infer<typeof offer>;
export type Provider = z.infer<typeof provider>;
export type BaseImage = z.infer<typeof baseImage>;
