import { createWorld, type World } from '../../support/run-cli.ts';
import type { RecordedRequest } from '../../support/service.ts';
import { no, ok } from '../../support/service.ts';

export type Drive = Record<string, unknown>;

export const ID = '0d000000-0000-4000-8000-000000000001';

export const DRIVE: Drive = {
  id: ID,
  name: 'datasets',
  size_gb: 500,
  s3_path: 'users/1/datasets/',
  status: 'AVAILABLE',
  used_bytes: '134217728000',
  price_per_hour: '6.00',
  last_billed_at: '2026-01-15T11:00:00.000Z',
  paid_until: '2026-01-15T13:00:00.000Z',
  current_instance_id: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-15T11:00:00.000Z',
};

/** Creates a service with these drives, which refuses undocumented requests. */
export async function worldOf(...drives: Drive[]): Promise<World> {
  return createWorld({
    handler: ({ method, path, body }: RecordedRequest) => {
      const [, id, verb] = /^\/storage\/drives(?:\/([^/]+)(\/resume)?)?$/.exec(path) ?? [];
      const drive = drives.find((one) => one.id === id);
      if (id === undefined) {
        return method === 'GET' ? ok(drives) : no(400, 'not here');
      }
      if (drive === undefined) return no(404, 'no such drive');
      if (method === 'GET') return ok(drive);
      if (method === 'PATCH') {
        const given = Object.keys(body as object)
          .sort()
          .join();
        if (given !== 'name,size_gb') return no(400, `fields: ${given}`);
        return ok(Object.assign(drive, body, { price_per_hour: '12.00' }));
      }
      if (verb === '/resume') {
        if (drive.status !== 'SUSPENDED') return no(400, 'not suspended');
        return ok(Object.assign(drive, { status: 'AVAILABLE' }));
      }
      return no(400, 'not here');
    },
  });
}

export function calls(requests: readonly RecordedRequest[]): string[] {
  return requests.map(({ method, path, body }) =>
    body === undefined ? `${method} ${path}` : `${method} ${path} ${JSON.stringify(body)}`,
  );
}
