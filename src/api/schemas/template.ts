import { lazy } from '../../lazy.ts';
import * as z from '../../zod.ts';
import { fields, type Infer } from './fields.ts';

const templateEndpoint = lazy(() => {
  const { text, number, flag } = fields();
  return z.looseObject({
    auth: z.nullish(z.looseObject({ type: text, token_key: text })),
    name: text,
    port: number,
    is_main: flag,
    protocol: text,
    url_template: text,
  });
});

const templateVariable = lazy(() => {
  const { text, number } = fields();
  return z.looseObject({ key: text, type: text, label: text, length: number, generator: text });
});

/** API document: Resources, Template (application template). */
export const template = lazy(() => {
  const { id, text, number, flag, open } = fields();
  return z.looseObject({
    id,
    slug: text,
    name: text,
    description: text,
    readme: text,
    tags: z.nullish(z.array(z.string())),
    logo_url: text,
    image_name: text,
    run_command: text,
    shm_size: text,
    endpoints: z.nullish(z.array(templateEndpoint())),
    volumes: z.nullish(z.array(z.looseObject({ host_path: text, container_path: text }))),
    env_vars: open,
    post_start_script: text,
    min_disk_gb: number,
    min_cuda_version: text,
    is_active: flag,
    sort_order: number,
    variables_schema: z.nullish(z.array(templateVariable())),
    created_at: text,
    updated_at: text,
  });
});
export const templates = lazy(() => z.array(template()));

export type TemplateEndpoint = Infer<typeof templateEndpoint>;
export type TemplateVariable = Infer<typeof templateVariable>;
export type Template = Infer<typeof template>;
