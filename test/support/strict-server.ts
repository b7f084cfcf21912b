import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

// Written by hand from the API document, and from nothing of src/: what the client and this server
// both get wrong in the same way would otherwise go unseen.

export interface RecordedRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined when there was no body. */
  body: unknown;
}

export interface StrictServer {
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** Each departure from the document, in words. Empty when every request was exact. */
  readonly complaints: string[];
  close(): Promise<void>;
}

type Complaint = string | undefined;
type Field = (value: unknown) => boolean;

interface Documented {
  method: string;
  path: RegExp;
  query?: Record<string, (value: string) => boolean>;
  /** Required and optional fields of the body; without it there is no body at all. */
  body?: { required: Record<string, Field>; optional?: Record<string, Field> };
  status: number;
  answer: (request: RecordedRequest) => unknown;
  paged?: { limit: number };
}

const TIME = '2026-01-15T10:00:00.000Z';
const INSTANCE_ID = '3f0c5c1e-8a51-4e0b-9c39-1f6f6a2b7d10';

const text: Field = (value) => typeof value === 'string' && value !== '';
const anyText: Field = (value) => typeof value === 'string';
const flag: Field = (value) => typeof value === 'boolean';
const count: Field = (value) => typeof value === 'number' && value > 0;
const port: Field = (value) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65535;
const listOf =
  (item: Field): Field =>
  (value) =>
    Array.isArray(value) && value.every(item);
const object =
  (required: Record<string, Field>, optional: Record<string, Field> = {}): Field =>
  (value) =>
    fieldsComplaint(value, required, optional) === undefined;

const dockerConfig = object(
  { image: text },
  {
    run_command: anyText,
    shm_size_gb: (value) => typeof value === 'number' && value >= 0.1,
    ports: listOf(
      object(
        {},
        {
          internal_port: port,
          external_port: port,
          protocol: (value) => value === 'TCP' || value === 'UDP',
          name: anyText,
          is_main: flag,
        },
      ),
    ),
    env: listOf(object({ key: text, value: anyText })),
    volumes: listOf(object({ container_path: text, host_path: text })),
  },
);

const instanceName: Field = (value) =>
  typeof value === 'string' && /^[A-Za-z][A-Za-z0-9-]{1,48}[A-Za-z0-9]$/.test(value);

const number = (value: string) => /^[1-9][0-9]*$/.test(value);
const types = (value: string) =>
  value.split(',').every((type) => /^(DEPOSIT|USAGE_CHARGE|BONUS|REFUND)$/.test(type));

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const ID = '[A-Za-z0-9_][A-Za-z0-9._~-]*';

function path(pattern: string): RegExp {
  return new RegExp(`^${pattern.replace('{uuid}', UUID).replace('{id}', ID)}$`);
}

const dates = { created_at: TIME, updated_at: TIME };

const sshKey = (name: unknown = 'laptop', public_key: unknown = 'ssh-ed25519 AAAA me@laptop') => ({
  id: 'key-1',
  name,
  public_key,
  fingerprint: 'SHA256:abc',
  is_default: true,
  ...dates,
});

const drive = (name: unknown = 'data', size_gb: unknown = 100) => ({
  id: 'drive-1',
  name,
  size_gb,
  s3_path: 'users/1/data',
  status: 'AVAILABLE',
  used_bytes: '0',
  price_per_hour: '0.85',
  last_billed_at: TIME,
  paid_until: TIME,
  current_instance_id: null,
  ...dates,
});

const user = (name: unknown = 'Ann') => ({
  id: 'user-1',
  role: 'USER',
  name,
  email: 'ann@example.com',
  yandex_id: null,
  github_id: null,
  balance: '1500.00',
  is_active: true,
  is_email_verified: true,
  has_password: true,
  notify_billing: true,
  notify_marketing: false,
  verified_at: TIME,
  last_login_at: TIME,
  ...dates,
});

const apiKey = (name: unknown = 'ci') => ({
  id: 'api-key-1',
  name,
  key_prefix: 'svc_sk_live_ab…',
  is_active: true,
  expires_at: null,
  last_used_at: TIME,
  ...dates,
});

const instance = (status: string, name: unknown = 'box') => ({
  id: INSTANCE_ID,
  name,
  status,
  price_per_hour_snapshot: '99.90',
  ip_address: null,
  ssh_username: 'root',
  ssh_port: 22,
  external_id: null,
  docker_config: null,
  failure_reason: null,
  metadata: null,
  connection_info: { type: 'os_only', secrets: {}, endpoints: [] },
  application_template: null,
  storage_drive: null,
  offer: {
    id: 'offer-1',
    name: 'A100 x1',
    interconnect: 'PCIE',
    provider_id: 'provider-1',
    gpu_model_id: 'gpu-1',
    external_offer_id: 'ext-1',
    in_stock: true,
    region: 'ru-1',
    gpu_count: 1,
    cpu_cores: 16,
    vram_gb: 80,
    ram_gb: 128,
    root_disk_gb: 100,
    ephemeral_disk_gb: 500,
    metadata: null,
    gpu_model: {
      id: 'gpu-1',
      name: 'NVIDIA A100',
      slug: 'a100',
      description: null,
      vram_gb: 80,
      ...dates,
    },
    ...dates,
  },
  provider: { id: 'provider-1', slug: 'north', name: 'North', ...dates },
  base_image: {
    id: 'image-1',
    name: 'Ubuntu 24.04',
    description: null,
    logo_url: null,
    os_type: 'linux',
    distro_version: '24.04',
    driver_version: '570',
    cuda_version: '12.8',
    supports_docker: true,
    supports_rdp: false,
    specs: null,
    sort_order: 1,
  },
  ssh_keys: [{ ...sshKey(), fingerprint: null }],
  paid_until: null,
  last_billed_at: null,
  started_at: null,
  terminated_at: null,
  ...dates,
});

const template = () => ({
  id: 'template-1',
  slug: 'jupyter',
  name: 'Jupyter',
  description: 'Notebooks',
  readme: '# Jupyter',
  tags: ['notebook'],
  logo_url: 'https://example.com/logo.png',
  image_name: 'registry.example.com/jupyter:1',
  run_command: 'start.sh',
  shm_size: '8g',
  endpoints: [
    {
      auth: { type: 'token', token_key: 'TOKEN' },
      name: 'web',
      port: 8888,
      is_main: true,
      protocol: 'TCP',
      url_template: 'http://{ip}:{port}/?token={TOKEN}',
    },
  ],
  volumes: [{ host_path: '/data', container_path: '/work' }],
  env_vars: { LANG: 'C.UTF-8' },
  post_start_script: null,
  min_disk_gb: 20,
  min_cuda_version: '12.0',
  is_active: true,
  sort_order: 1,
  variables_schema: [
    { key: 'TOKEN', type: 'generated', label: 'Token', length: 32, generator: 'hex' },
  ],
  ...dates,
});

const field = (request: RecordedRequest, name: string): unknown =>
  (request.body as Record<string, unknown>)[name];

/** API document: Endpoints, all 23 of them in its order. */
const OPERATIONS: readonly Documented[] = [
  {
    method: 'POST',
    path: path('/api-keys'),
    body: { required: { name: (value) => text(value) && String(value).length <= 50 } },
    status: 201,
    answer: (request) => ({ ...apiKey(field(request, 'name')), secret_key: 'svc_sk_live_abcdef' }),
  },
  { method: 'GET', path: path('/api-keys'), status: 200, answer: () => [apiKey()] },
  {
    method: 'POST',
    path: path('/instances'),
    body: {
      required: { offer_id: text, image_id: text, instance_name: instanceName },
      optional: {
        ssh_keys: listOf(text),
        template_id: text,
        storage_drive_id: text,
        docker_config: dockerConfig,
      },
    },
    status: 201,
    answer: (request) => instance('PROVISIONING', field(request, 'instance_name')),
  },
  {
    method: 'POST',
    path: path('/instances/{uuid}/reorder'),
    body: { required: { new_name: text } },
    status: 201,
    answer: (request) => {
      const { storage_drive: _omitted, ...rest } = instance(
        'PROVISIONING',
        field(request, 'new_name'),
      );
      return rest;
    },
  },
  {
    method: 'GET',
    path: path('/instances/{uuid}'),
    status: 200,
    answer: () => instance('ACTIVE'),
  },
  {
    method: 'POST',
    path: path('/instances/{uuid}/start'),
    status: 200,
    answer: () => ({ status: 'STARTING', paid_until: TIME }),
  },
  {
    method: 'POST',
    path: path('/instances/{uuid}/stop'),
    status: 200,
    answer: () => ({ status: 'STOPPING' }),
  },
  {
    method: 'POST',
    path: path('/instances/{uuid}/terminate'),
    status: 200,
    answer: () => ({ status: 'TERMINATING' }),
  },
  {
    method: 'GET',
    path: path('/instances/{uuid}/events'),
    query: { page: number, limit: number },
    status: 200,
    paged: { limit: 10 },
    answer: () => [
      {
        id: 'event-1',
        instance_id: INSTANCE_ID,
        type: 'STATUS_CHANGE',
        message: 'Active',
        payload: { ip: '192.0.2.1' },
        created_at: TIME,
      },
    ],
  },
  { method: 'GET', path: path('/templates'), status: 200, answer: () => [template()] },
  {
    method: 'POST',
    path: path('/storage/drives'),
    body: { required: { name: text, size_gb: count } },
    status: 201,
    answer: (request) => drive(field(request, 'name'), field(request, 'size_gb')),
  },
  { method: 'GET', path: path('/storage/drives'), status: 200, answer: () => [drive()] },
  { method: 'GET', path: path('/storage/drives/{id}'), status: 200, answer: () => drive() },
  {
    method: 'PATCH',
    path: path('/storage/drives/{id}'),
    body: { required: { name: text, size_gb: count } },
    status: 200,
    answer: (request) => drive(field(request, 'name'), field(request, 'size_gb')),
  },
  {
    method: 'POST',
    path: path('/storage/drives/{id}/resume'),
    body: { required: {} },
    status: 200,
    answer: () => drive(),
  },
  {
    method: 'POST',
    path: path('/ssh-keys'),
    body: { required: { name: text, public_key: text }, optional: { is_default: flag } },
    status: 201,
    answer: (request) => sshKey(field(request, 'name'), field(request, 'public_key')),
  },
  { method: 'GET', path: path('/ssh-keys'), status: 200, answer: () => [sshKey()] },
  // "200: {status, code} with no data".
  { method: 'DELETE', path: path('/ssh-keys/{id}'), status: 200, answer: () => undefined },
  { method: 'GET', path: path('/users/me'), status: 200, answer: () => user() },
  {
    method: 'PATCH',
    path: path('/users/me'),
    body: { required: { name: text } },
    status: 200,
    answer: (request) => ({
      ...user(field(request, 'name')),
      reserved_balance: '99.90',
      total_balance: '1599.90',
    }),
  },
  {
    method: 'POST',
    path: path('/users/me/update-password'),
    body: { required: { current_password: text, new_password: text } },
    status: 200,
    answer: () => user(),
  },
  {
    method: 'POST',
    path: path('/billing/promo/activate'),
    body: { required: { code: text } },
    status: 200,
    answer: () => ({ added_amount: '500.00', new_balance: '2000.00' }),
  },
  {
    method: 'GET',
    path: path('/billing/transactions'),
    query: { page: number, limit: number, type: types },
    status: 200,
    paged: { limit: 20 },
    answer: () => [
      {
        id: 'transaction-1',
        type: 'DEPOSIT',
        status: 'COMPLETED',
        amount: '1500.00',
        direction: 'INCOMING',
        description: 'Top-up',
        created_at: TIME,
      },
    ],
  },
];

/** A server on loopback that knows the documented operations exactly and refuses anything else. */
export async function startStrictServer(options: { key: string }): Promise<StrictServer> {
  const requests: RecordedRequest[] = [];
  const complaints: string[] = [];

  const server = createServer(async (incoming, response) => {
    const raw = await bodyOf(incoming);
    const url = new URL(incoming.url ?? '/', 'http://loopback');
    const request: RecordedRequest = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: incoming.headers,
      body: raw === '' ? undefined : parsed(raw),
    };
    requests.push(request);

    const operation = OPERATIONS.find(
      ({ method, path }) => method === request.method && path.test(request.path),
    );
    const complaint =
      operation === undefined
        ? 'no such operation'
        : (headersComplaint(request, raw, options.key) ??
          queryComplaint(url, operation) ??
          bodyComplaint(request, raw, operation));
    response.setHeader('content-type', 'application/json; charset=utf-8');
    if (operation === undefined || complaint !== undefined) {
      complaints.push(`${incoming.method} ${incoming.url}: ${complaint}`);
      response.statusCode = 400;
      response.end(JSON.stringify({ statusCode: 400, message: complaint, error: 'Bad Request' }));
      return;
    }
    const data = operation.answer(request);
    response.statusCode = operation.status;
    response.end(
      JSON.stringify({
        status: 'success',
        code: operation.status,
        ...(data === undefined ? {} : { data }),
        ...(operation.paged === undefined
          ? {}
          : {
              meta: {
                total: 1,
                page: Number(request.query.page ?? 1),
                limit: Number(request.query.limit ?? operation.paged.limit),
                total_pages: 1,
              },
            }),
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: listening } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${listening}`,
    requests,
    complaints,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** API document: Authentication. */
function headersComplaint(request: RecordedRequest, raw: string, key: string): Complaint {
  const { headers } = request;
  if (headers['x-api-key'] !== key) return 'X-API-KEY is not the key';
  if (headers.accept !== 'application/json') return 'Accept is not application/json';
  if ((headers['user-agent'] ?? '') === '') return 'there is no User-Agent';
  const type = headers['content-type'];
  if (raw !== '' && type !== 'application/json') return 'Content-Type is not application/json';
  if (raw === '' && type !== undefined) return 'Content-Type without a body';
  for (const forbidden of ['authorization', 'cookie', 'expect', 'proxy-authorization']) {
    if (headers[forbidden] !== undefined) return `the header ${forbidden} is not documented`;
  }
  return undefined;
}

function queryComplaint(url: URL, operation: Documented): Complaint {
  if (url.search === '' && (url.href.endsWith('?') || url.hash !== '')) return 'an empty query';
  const seen = new Set<string>();
  for (const [name, value] of url.searchParams) {
    const rule = operation.query?.[name];
    if (rule === undefined) return `the query has ${name}`;
    if (seen.has(name)) return `the query has ${name} twice`;
    if (!rule(value)) return `the query has ${name}=${value}`;
    seen.add(name);
  }
  return undefined;
}

function bodyComplaint(request: RecordedRequest, raw: string, operation: Documented): Complaint {
  if (operation.body === undefined) return raw === '' ? undefined : 'there is a body';
  if (raw === '') return 'there is no body';
  return fieldsComplaint(request.body, operation.body.required, operation.body.optional ?? {});
}

function fieldsComplaint(
  value: unknown,
  required: Record<string, Field>,
  optional: Record<string, Field>,
): Complaint {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not an object';
  const body: Record<string, unknown> = { ...value };
  for (const name of Object.keys(required)) {
    if (!(name in body)) return `${name} is missing`;
  }
  for (const [name, inner] of Object.entries(body)) {
    const rule = required[name] ?? optional[name];
    if (rule === undefined) return `${name} is not documented`;
    if (!rule(inner)) return `${name} is wrong`;
  }
  return undefined;
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}
