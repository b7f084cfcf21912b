import type { Api, CallOptions, Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import type { RentalRequest } from '../../rentals/index.ts';
import { journaled } from '../kit/journaled.ts';
import { keepSighting, sightingOf } from '../kit/sighting.ts';

/** Rents a machine: {@link journaled}, with what the answer told of it kept. */
export function rent(
  request: RentalRequest,
  context: Context,
  send: (api: Api, options: CallOptions) => Promise<Instance>,
): Promise<Instance> {
  return journaled(request, context, send, (instance, uid) =>
    keepSighting(
      sightingOf(instance),
      context,
      request.operation === 'reorder' ? 'reorder' : 'create',
      uid,
    ),
  );
}
