import type { Instance, Observed } from '../api/index.ts';
import type { NameRecorder } from '../completion/recorder.ts';
import { CliError } from '../errors.ts';
import type { Observation } from '../journal/index.ts';
import type { Context } from './contract.ts';

/**
 * Stores facts from responses: instances in the inventory, names of offers and images in the
 * catalog, and all names for Tab. The journal adds created instances to the inventory, since it
 * knows their requests.
 */
export function createObserver(
  names: NameRecorder,
  { journal, catalog }: Pick<Context, 'journal' | 'catalog'>,
  { err }: Pick<Context, 'err'>,
): (seen: Observed) => Promise<void> {
  return async function store(seen) {
    try {
      switch (seen.title) {
        case 'GET /instances/{id}':
          names.one('instance', seen.result);
          await (await journal()).observe(observationOf(seen.result));
          return await (await catalog()).learn(seen.result);
        case 'POST /instances':
        case 'POST /instances/{id}/reorder':
          names.one('instance', seen.result);
          return await (await catalog()).learn(seen.result);
        case 'POST /instances/{id}/start':
        // Not terminate: only the read after it shows whether the instance has ended.
        case 'POST /instances/{id}/stop': {
          const { id } = seen.input;
          const { status } = seen.result;
          names.status(id, status);
          await (await journal()).observe({ id, status });
          return;
        }
        case 'GET /storage/drives':
          return names.all('drive', seen.result);
        case 'GET /storage/drives/{id}':
        case 'POST /storage/drives':
        case 'PATCH /storage/drives/{id}':
          return names.one('drive', seen.result);
        case 'GET /ssh-keys':
          return names.all('ssh-key', seen.result);
        case 'POST /ssh-keys':
          return names.one('ssh-key', seen.result);
        case 'DELETE /ssh-keys/{id}':
          return names.gone('ssh-key', seen.input.id);
        case 'GET /templates':
          return names.all('template', seen.result);
        default:
      }
    } catch (error) {
      // Only warns: the journal has already stored a rented instance.
      if (!(error instanceof CliError)) throw error;
      err.warn('local_storage', error.message);
    }
  };
}

export function observationOf(instance: Instance): Observation {
  return {
    id: instance.id,
    status: instance.status,
    name: instance.name,
    price_per_hour: instance.price_per_hour_snapshot,
    offer_name: instance.offer?.name,
    created_at: instance.created_at,
    terminated_at: instance.terminated_at,
    facts: {
      offer_id: instance.offer?.id ?? null,
      ip_address: instance.ip_address ?? null,
      ssh_username: instance.ssh_username ?? null,
      ssh_port: instance.ssh_port ?? null,
      paid_until: instance.paid_until ?? null,
      last_billed_at: instance.last_billed_at ?? null,
      started_at: instance.started_at ?? null,
      updated_at: instance.updated_at ?? null,
    },
  };
}
