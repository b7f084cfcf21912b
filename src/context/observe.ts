import type { Api, Drive, Instance } from '../api/index.ts';
import { after, type NameRecorder } from '../completion/recorder.ts';
import { CliError } from '../errors.ts';
import type { Observation } from '../journal/index.ts';
import type { Context } from './contract.ts';
import type { ServiceClock } from './service-clock.ts';

/**
 * Wraps the Api to store what its responses show: instances in the inventory, names of offers and
 * images in the catalog, and all names for Tab. Created instances reach the inventory through the
 * journal, which knows their request.
 */
export function observe(
  api: Api,
  names: NameRecorder,
  { journal, catalog }: Pick<Context, 'journal' | 'catalog'>,
  { err }: Pick<Context, 'err'>,
  serviceClock: ServiceClock,
): Api {
  /** Ignores storage faults: a rented instance is in the journal since its request. */
  async function keep(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      err.warn('local_storage', error.message);
    }
  }
  const onInstance = (instance: Instance) => {
    names.instance(instance);
    return keep(async () => {
      await (await journal()).observe(observationOf(instance), 'read');
      await (await catalog()).learn(instance);
    });
  };
  const onCreated = (instance: Instance) => {
    names.instance(instance);
    return keep(async () => (await catalog()).learn(instance));
  };
  const onStatus = ({ status }: { status: string }, id: string) => {
    names.status(id, status);
    return keep(async () => (await journal()).observe({ id, status }, 'read'));
  };
  const keepDrives = (drives: readonly Drive[], whole: boolean) =>
    keep(async () => {
      const at = new Date(serviceClock.now()).toISOString();
      await (await journal()).observeDrives(drives, at, { whole });
    });
  const onDrive = (drive: Drive) => {
    names.drive(drive);
    return keepDrives([drive], false);
  };
  const onDrives = (drives: readonly Drive[]) => {
    names.drives(drives);
    return keepDrives(drives, true);
  };
  return {
    ...api,
    instances: {
      ...api.instances,
      create: after(api.instances.create, onCreated),
      reorder: after(api.instances.reorder, onCreated),
      get: after(api.instances.get, onInstance),
      start: after(api.instances.start, onStatus),
      stop: after(api.instances.stop, onStatus),
      terminate: after(api.instances.terminate, onStatus),
    },
    drives: {
      ...api.drives,
      list: after(api.drives.list, onDrives),
      get: after(api.drives.get, onDrive),
      create: after(api.drives.create, onDrive),
      update: after(api.drives.update, onDrive),
    },
    sshKeys: {
      ...api.sshKeys,
      list: after(api.sshKeys.list, names.sshKeys),
      add: after(api.sshKeys.add, names.sshKey),
      delete: after(api.sshKeys.delete, (_nothing, id) => names.gone('ssh-key', id)),
    },
    templates: { ...api.templates, list: after(api.templates.list, names.templates) },
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
