import { ok, type Service, startService } from './service.ts';

/** The fields of an instance that tests use (API document: Instance). */
export interface Instance {
  id: string;
  name?: string | null;
  status: string;
  ip_address?: string | null;
  ssh_username?: string | null;
  ssh_port?: number | null;
  [field: string]: unknown;
}

/**
 * A service whose instances have an address that the test provides, since the sandbox's addresses
 * are not real.
 */
export interface InstanceService extends Service {
  readonly instances: Map<string, Instance>;
  /** The environment in which a program uses this service. */
  readonly env: Readonly<Record<string, string>>;
}

const KEY = 'svc_sk_test_0123456789abcdef';

export async function startInstances(instances: readonly Instance[]): Promise<InstanceService> {
  const known = new Map(instances.map((instance) => [instance.id, instance]));
  const service = await startService(({ method, path, headers }) => {
    if (headers['x-api-key'] !== KEY) {
      return { status: 401, body: { statusCode: 401, message: 'no', error: 'Unauthorized' } };
    }
    if (method === 'GET' && path === '/users/me') {
      return ok({ id: 'user-1', role: 'USER', email: 'ann@example.com', balance: '0.00' });
    }
    if (method === 'GET' && path === '/storage/drives') {
      return ok([...known.keys()].map((id) => driveOf(id)));
    }
    const [, id = ''] = /^\/instances\/([^/]+)$/.exec(path) ?? [];
    const instance = method === 'GET' ? known.get(id) : undefined;
    return instance === undefined
      ? { status: 404, body: { statusCode: 404, message: 'Not found', error: 'Not Found' } }
      : ok(instance);
  });
  return {
    ...service,
    instances: known,
    env: { GPUCLOUD_BASE_URL: service.url, GPUCLOUD_API_KEY: KEY },
  };
}

/** Returns an instance's drive, which lets gpucloud find an instance that it never rented. */
function driveOf(id: string): Record<string, unknown> {
  return {
    id: `drive-${id}`,
    name: `data-${id.slice(0, 4)}`,
    size_gb: 10,
    status: 'IN_USE',
    price_per_hour: '0.10',
    current_instance_id: id,
  };
}
