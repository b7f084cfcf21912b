const SINCE = '2025-01-01T00:00:00.000Z';

/** API document: Template. All fields in the document's order; each template overrides some. */
const PLAIN = {
  id: '',
  slug: '',
  name: '',
  description: '',
  readme: '',
  tags: [] as string[],
  logo_url: '',
  image_name: '',
  run_command: '',
  shm_size: null as string | null,
  endpoints: [] as ReturnType<typeof endpoint>[],
  volumes: [] as { host_path: string; container_path: string }[],
  env_vars: {} as Record<string, string>,
  post_start_script: null as string | null,
  min_disk_gb: 20,
  min_cuda_version: '',
  is_active: true,
  sort_order: 0,
  variables_schema: [] as ReturnType<typeof secret>[],
  created_at: SINCE,
  updated_at: SINCE,
};

export type Template = typeof PLAIN;

function template(own: Partial<Template> & Pick<Template, 'id' | 'slug' | 'name'>): Template {
  return { ...PLAIN, logo_url: `https://sandbox.invalid/logos/${own.slug}.svg`, ...own };
}

function endpoint(
  name: string,
  port: number,
  url_template: string,
  type: string,
  token_key: string,
) {
  const auth = { type, token_key };
  return { auth, name, port, is_main: true, protocol: 'TCP', url_template };
}

function secret(key: string, label: string, length: number) {
  return { key, type: 'generated', label, length, generator: 'hex' };
}

const TEMPLATES: readonly Template[] = [
  template({
    id: '1ab1ab01-0000-4000-8000-000000000021',
    slug: 'jupyterlab',
    name: 'JupyterLab',
    description: 'Notebooks with PyTorch and CUDA, ready in the browser',
    readme:
      '# JupyterLab\n\nNotebooks with Python, PyTorch and CUDA. Open the endpoint `JupyterLab`; the link holds the token.\n',
    tags: ['notebook', 'python', 'pytorch'],
    image_name: 'quay.io/jupyter/pytorch-notebook:cuda12-latest',
    run_command: 'start-notebook.py --IdentityProvider.token=$JUPYTER_TOKEN',
    shm_size: '8g',
    endpoints: [
      endpoint(
        'JupyterLab',
        8888,
        'http://{ip}:{port}/lab?token={JUPYTER_TOKEN}',
        'token',
        'JUPYTER_TOKEN',
      ),
      { ...endpoint('TensorBoard', 6006, 'http://{ip}:{port}', 'none', ''), is_main: false },
    ],
    volumes: [{ host_path: '/workspace', container_path: '/home/jovyan/work' }],
    env_vars: { JUPYTER_ENABLE_LAB: 'yes' },
    post_start_script: 'pip install --quiet tensorboard',
    min_disk_gb: 40,
    min_cuda_version: '12.1',
    sort_order: 1,
    variables_schema: [secret('JUPYTER_TOKEN', 'Access token', 48)],
  }),
  template({
    id: '77117702-0000-4000-8000-000000000022',
    slug: 'vllm',
    name: 'vLLM',
    description: 'A language model behind an OpenAI-compatible API',
    readme:
      '# vLLM\n\nServes a language model on port 8000. `VLLM_API_KEY` is generated with the instance.\n',
    tags: ['llm', 'inference', 'api'],
    image_name: 'docker.io/vllm/vllm-openai:latest',
    run_command: '--model $MODEL --api-key $VLLM_API_KEY',
    endpoints: [endpoint('API', 8000, 'http://{ip}:{port}/v1', 'token', 'VLLM_API_KEY')],
    volumes: [{ host_path: '/workspace/models', container_path: '/root/.cache/huggingface' }],
    env_vars: { MODEL: 'Qwen/Qwen2.5-7B-Instruct' },
    min_disk_gb: 80,
    min_cuda_version: '12.4',
    sort_order: 2,
    variables_schema: [secret('VLLM_API_KEY', 'API key', 32)],
  }),
  // Unavailable: the sandbox does not list it, and rejects a request for it.
  template({
    id: '01d01d05-0000-4000-8000-000000000025',
    slug: 'tensorflow-1',
    name: 'TensorFlow 1',
    is_active: false,
  }),
];

/** Returns the available templates, by `sort_order` (GET /templates). */
export function listTemplates(): Template[] {
  return TEMPLATES.filter((one) => one.is_active).sort((a, b) => a.sort_order - b.sort_order);
}

export function findTemplate(id: string | null): Template | undefined {
  return TEMPLATES.find((one) => one.id === id);
}

/** Returns the template fields that an instance shows; the document leaves that object open. */
export function templateInInstance(template: Template): Record<string, unknown> {
  const { id, slug, name, description, logo_url, image_name } = template;
  return { id, slug, name, description, logo_url, image_name };
}
