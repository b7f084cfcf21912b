/**
 * One sample of each resource with every documented field. No value occurs twice, so a value in an
 * output identifies its field.
 */

/** JSON as the service sends it. */
export type Json = Readonly<Record<string, unknown>>;

/** The responses of the described service. A test may replace a sample. */
export interface Samples {
  instance: Json;
  events: readonly unknown[];
  templates: readonly unknown[];
  drives: readonly unknown[];
  sshKeys: readonly unknown[];
  apiKeys: readonly unknown[];
  /** The response to creating an API key, the only one with the secret. */
  createdApiKey: Json;
  user: Json;
  /** The response to a profile update, the only one with all three balances. */
  updatedUser: Json;
  transactions: readonly unknown[];
  bonus: Json;
}

export const INSTANCE_ID = '3f0c5c1e-8a51-4e0b-9c39-1f6f6a2b7d10';
export const DRIVE_ID = '5d1b7e70-2c44-4f0a-8d3e-9b1a6c5f2e31';
export const SSH_KEY_ID = '7a9e3c15-6b2d-4c8f-a1e4-0d5f8b7c6a42';

/** Values that no output shows without a flag. */
export const SECRETS = {
  token: 'notebook-token-41d8cd98f00b',
  metadata: 'metadata-token-9e107d9d372b',
  env: 'env-value-e4d909c290d0',
} as const;

/** Returns new samples, whose times all differ. */
export function samples(): Samples {
  let minute = 0;
  const moment = () => {
    minute += 1;
    const clock = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
    return `2026-01-15T${clock}:30.000Z`;
  };
  const dates = () => ({ created_at: moment(), updated_at: moment() });

  const instance: Json = {
    id: INSTANCE_ID,
    name: 'trainer-sample',
    status: 'ACTIVE',
    price_per_hour_snapshot: '189.91',
    ip_address: '192.0.2.17',
    ssh_username: 'ubuntu-sample',
    ssh_port: 2201,
    external_id: 'upstream-instance-1',
    docker_config: {
      image: 'registry.example.com/inside:1',
      run_command: 'serve --inside',
      shm_size_gb: 2202,
      ports: [
        {
          internal_port: 2203,
          external_port: 2204,
          protocol: 'TCP',
          name: 'inside-port',
          is_main: true,
        },
      ],
      env: [{ key: 'INSIDE_KEY', value: SECRETS.env }],
      volumes: [{ container_path: '/inside', host_path: '/outside' }],
    },
    failure_reason: 'failure-sample',
    metadata: { token: SECRETS.metadata },
    connection_info: {
      type: 'custom_docker',
      secrets: { NOTEBOOK_TOKEN: SECRETS.token },
      endpoints: [
        {
          name: 'notebook-endpoint',
          port: 2205,
          url: `https://notebook.example.com/?token=${SECRETS.token}`,
        },
      ],
    },
    application_template: { id: 'inner-template-id', name: 'inner-template' },
    storage_drive: { id: 'inner-drive-id', name: 'inner-drive', odd: [1, { deep: null }] },
    offer: {
      id: 'offer-id-1',
      name: 'offer-sample',
      interconnect: 'SXM5',
      provider_id: 'offer-of-provider-1',
      gpu_model_id: 'offer-of-gpu-1',
      external_offer_id: 'offer-upstream-1',
      in_stock: true,
      region: 'region-sample',
      gpu_count: 2206,
      cpu_cores: 2207,
      vram_gb: 2208,
      ram_gb: 2209,
      root_disk_gb: 2210,
      ephemeral_disk_gb: 2211,
      metadata: { rack: 'rack-sample' },
      gpu_model: {
        id: 'gpu-id-1',
        name: 'NVIDIA H100 sample',
        slug: 'h100-slug',
        description: 'gpu description',
        vram_gb: 2212,
        ...dates(),
      },
      ...dates(),
    },
    provider: { id: 'provider-id-1', slug: 'provider-slug', name: 'Provider Name', ...dates() },
    base_image: {
      id: 'image-id-1',
      name: 'Ubuntu sample',
      description: 'image description',
      logo_url: 'https://example.com/image.png',
      os_type: 'linux',
      distro_version: '24.04',
      driver_version: '570.86',
      cuda_version: '12.8',
      supports_docker: true,
      supports_rdp: false,
      specs: { python: '3.12' },
      sort_order: 2213,
    },
    ssh_keys: [
      {
        id: 'inner-ssh-id-1',
        name: 'inner-key-name',
        public_key: publicKey(1),
        fingerprint: `SHA256:${'i'.repeat(43)}`,
        is_default: true,
        ...dates(),
      },
    ],
    paid_until: moment(),
    last_billed_at: moment(),
    started_at: moment(),
    terminated_at: moment(),
    ...dates(),
  };

  const apiKey: Json = {
    id: 'api-key-id-1',
    name: 'ci-sample',
    key_prefix: 'svc_sk_live_9f',
    is_active: true,
    expires_at: moment(),
    last_used_at: moment(),
    ...dates(),
  };

  const user: Json = {
    id: 'user-id-1',
    role: 'ADMIN',
    name: 'Anna Sample',
    email: 'anna@example.com',
    yandex_id: 'yandex-1',
    github_id: 'github-1',
    balance: '1501.11',
    is_active: true,
    is_email_verified: true,
    has_password: true,
    notify_billing: true,
    notify_marketing: false,
    verified_at: moment(),
    last_login_at: moment(),
    ...dates(),
  };

  return {
    instance,
    events: [
      {
        id: 'event-id-1',
        instance_id: INSTANCE_ID,
        type: 'STATUS_CHANGE',
        message: 'event message',
        payload: { ip: '192.0.2.18' },
        created_at: moment(),
      },
    ],
    templates: [
      {
        id: 'template-id-1',
        slug: 'jupyter-slug',
        name: 'Jupyter Sample',
        description: 'template description',
        readme: 'Readme of the sample.',
        tags: ['notebook-tag'],
        logo_url: 'https://example.com/template.png',
        image_name: 'registry.example.com/jupyter:1',
        run_command: 'start-notebook.sh',
        shm_size: '8gib',
        endpoints: [
          {
            auth: { type: 'bearer', token_key: 'WEB_TOKEN' },
            name: 'web-endpoint',
            port: 3301,
            is_main: true,
            protocol: 'HTTPS',
            url_template: 'http://{ip}:{port}/lab',
          },
        ],
        volumes: [{ host_path: '/on-host', container_path: '/in-container' }],
        env_vars: { LANG: 'C.UTF-8' },
        post_start_script: 'touch started',
        min_disk_gb: 3302,
        min_cuda_version: '12.4',
        is_active: true,
        sort_order: 3303,
        variables_schema: [
          {
            key: 'VARIABLE_KEY',
            type: 'generated',
            label: 'Variable label',
            length: 3304,
            generator: 'hex',
          },
        ],
        ...dates(),
      },
    ],
    drives: [
      {
        id: DRIVE_ID,
        name: 'datasets-sample',
        size_gb: 4401,
        s3_path: 'bucket/prefix',
        status: 'IN_USE',
        used_bytes: '73014444032',
        price_per_hour: '3.21',
        last_billed_at: moment(),
        paid_until: moment(),
        current_instance_id: INSTANCE_ID,
        ...dates(),
      },
    ],
    sshKeys: [
      {
        id: SSH_KEY_ID,
        name: 'laptop-sample',
        public_key: publicKey(2),
        fingerprint: `SHA256:${'k'.repeat(43)}`,
        is_default: true,
        ...dates(),
      },
    ],
    apiKeys: [apiKey],
    createdApiKey: { ...apiKey, secret_key: 'svc_sk_live_7c4a8d09ca3762af61e5' },
    user,
    updatedUser: { ...user, reserved_balance: '99.92', total_balance: '1603.33' },
    transactions: [
      {
        id: 'transaction-id-1',
        type: 'BONUS',
        status: 'COMPLETED',
        amount: '250.55',
        direction: 'INCOMING',
        description: 'transaction description',
        created_at: moment(),
      },
    ],
    bonus: { added_amount: '500.25', new_balance: '2001.36' },
  };
}

/** A public key with meaningless bytes, since commands only read it. */
function publicKey(fill: number): string {
  const part = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const blob = Buffer.concat([part(Buffer.from('ssh-ed25519')), part(Buffer.alloc(32, fill))]);
  return `ssh-ed25519 ${blob.toString('base64')}`;
}
