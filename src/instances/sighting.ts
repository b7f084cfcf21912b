import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { Origin, Sighting } from '../journal/index.ts';

/** What is kept of a machine, with the whole answer where there was one. */
export type Reading = Sighting & { readonly machine?: Instance };

export function sightingOf(instance: Instance): Reading {
  return {
    machine: instance,
    id: instance.id,
    status: instance.status,
    name: instance.name,
    price_per_hour: instance.price_per_hour_snapshot,
    offer_name: instance.offer?.name,
    created_at: instance.created_at,
  };
}

/**
 * Keeps what was read of a machine for the known list. A reading that can't be kept spoils no
 * command: the machine itself is in the journal since it was asked for.
 */
export async function keepSighting(
  reading: Reading,
  context: Context,
  origin: Origin = 'read',
  request?: string,
): Promise<void> {
  const { machine, ...sighting } = reading;
  try {
    await (await context.journal()).observe(sighting, origin, request);
    // Its offer and image have names from now on.
    if (machine !== undefined) await (await context.catalog()).learn(machine);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.err.warn(error.message);
  }
}
