import { CODE_SERVER, COMFYUI, JUPYTERLAB, RETIRED, VLLM } from './template-seeds.ts';

/** Spec: Template, endpoint item. */
export interface TemplateEndpoint {
  auth: { type: string; token_key: string };
  name: string;
  port: number;
  is_main: boolean;
  protocol: string;
  url_template: string;
}

/** Spec: Template, variables schema item. */
export interface TemplateVariable {
  key: string;
  type: string;
  label: string;
  length: number;
  generator: string;
}

/** Spec: Template. */
export interface Template {
  id: string;
  slug: string;
  name: string;
  description: string;
  readme: string;
  tags: string[];
  logo_url: string;
  image_name: string;
  run_command: string;
  shm_size: string | null;
  endpoints: TemplateEndpoint[];
  volumes: { host_path: string; container_path: string }[];
  env_vars: Record<string, string>;
  post_start_script: string | null;
  min_disk_gb: number;
  min_cuda_version: string;
  is_active: boolean;
  sort_order: number;
  variables_schema: TemplateVariable[];
  created_at: string;
  updated_at: string;
}

const TEMPLATES: readonly Template[] = [JUPYTERLAB, VLLM, COMFYUI, CODE_SERVER, RETIRED];

/** GET /templates: the available ones, by `sort_order`. */
export function listTemplates(): Template[] {
  return TEMPLATES.filter((one) => one.is_active).sort((a, b) => a.sort_order - b.sort_order);
}

export function findTemplate(id: string): Template | undefined {
  return TEMPLATES.find((one) => one.id === id);
}

/** What an instance shows of its template; the document leaves the fields of that object open. */
export function templateInInstance(template: Template): Record<string, unknown> {
  return {
    id: template.id,
    slug: template.slug,
    name: template.name,
    description: template.description,
    logo_url: template.logo_url,
    image_name: template.image_name,
  };
}
