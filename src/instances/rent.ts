import type { Api, CallOptions, Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import type { RentalRequest } from '../journal/index.ts';
import { journaled } from './journaled.ts';
import { beforeSending, nothingCreated } from './preflight.ts';
import { keepSighting, sightingOf } from './sighting.ts';

/** Rents a machine: {@link journaled}, with what the answer told of it kept. */
export async function rent(
  request: RentalRequest,
  context: Context,
  send: (api: Api, options: CallOptions) => Promise<Instance>,
): Promise<Instance> {
  await beforeSending(context, nothingCreated, () => context.api());
  return await journaled(request, context, send, (instance, uid) =>
    keepSighting(
      sightingOf(instance),
      context,
      request.operation === 'reorder' ? 'reorder' : 'create',
      uid,
    ),
  );
}
