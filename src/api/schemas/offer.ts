import * as z from 'zod/mini';
import { lazy } from '../../lazy.ts';
import { fields, type Infer } from './fields.ts';

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
export const provider = lazy(() => {
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

export type Offer = Infer<typeof offer>;
export type Provider = Infer<typeof provider>;
export type BaseImage = Infer<typeof baseImage>;
