import { array, type Infer, looseObject, nullish, string } from '../../schema/schema.ts';
import { flag, id, number, open, text } from './fields.ts';

const templateEndpoint = looseObject({
  auth: nullish(looseObject({ type: text, token_key: text })),
  name: text,
  port: number,
  is_main: flag,
  protocol: text,
  url_template: text,
});

const templateVariable = looseObject({
  key: text,
  type: text,
  label: text,
  length: number,
  generator: text,
});

/** API document: Resources, Template (application template). */
export const template = looseObject({
  id,
  slug: text,
  name: text,
  description: text,
  readme: text,
  tags: nullish(array(string())),
  logo_url: text,
  image_name: text,
  run_command: text,
  shm_size: text,
  endpoints: nullish(array(templateEndpoint)),
  volumes: nullish(array(looseObject({ host_path: text, container_path: text }))),
  env_vars: open,
  post_start_script: text,
  min_disk_gb: number,
  min_cuda_version: text,
  is_active: flag,
  sort_order: number,
  variables_schema: nullish(array(templateVariable)),
  created_at: text,
  updated_at: text,
});

export type TemplateEndpoint = Infer<typeof templateEndpoint>;
export type TemplateVariable = Infer<typeof templateVariable>;
export type Template = Infer<typeof template>;
