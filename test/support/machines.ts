import { ok, type Service, startService } from './service.ts';

/** A machine as the service tells it (API document: Instance), in as far as a test cares. */
export interface Machine {
  id: string;
  name?: string | null;
  status: string;
  ip_address?: string | null;
  ssh_username?: string | null;
  ssh_port?: number | null;
  [field: string]: unknown;
}

/** A service whose machines are where the test says: the sandbox's have no real address. */
export interface MachineService extends Service {
  readonly machines: Map<string, Machine>;
  /** What a program needs to speak to it. */
  readonly env: Readonly<Record<string, string>>;
}

const KEY = 'svc_sk_test_0123456789abcdef';

export async function startMachines(machines: readonly Machine[]): Promise<MachineService> {
  const known = new Map(machines.map((machine) => [machine.id, machine]));
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
    const machine = method === 'GET' ? known.get(id) : undefined;
    return machine === undefined
      ? { status: 404, body: { statusCode: 404, message: 'Not found', error: 'Not Found' } }
      : ok(machine);
  });
  return {
    ...service,
    machines: known,
    env: { GPUCLOUD_BASE_URL: service.url, GPUCLOUD_API_KEY: KEY },
  };
}

/** Each machine has a drive, by which a program that never rented it finds it. */
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
