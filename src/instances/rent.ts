import type { Api, CallOptions, Instance } from '../api/index.ts';
import { sightingOf } from '../context/observe.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { RentalRequest } from '../journal/index.ts';
import { journaled } from './journaled.ts';
import { beforeSending, nothingCreated } from './preflight.ts';

/** Rents a machine: {@link journaled}, with what the answer told of it kept. */
export async function rent(
  request: RentalRequest,
  context: Context,
  send: (api: Api, options: CallOptions) => Promise<Instance>,
): Promise<Instance> {
  await beforeSending(context, nothingCreated, () => context.api());
  const origin = request.operation === 'reorder' ? 'reorder' : 'create';
  return await journaled(request, context, send, async (instance, uid) => {
    try {
      await (await context.journal()).observe(sightingOf(instance), origin, uid);
    } catch (error) {
      // The id is in the journal already.
      if (!(error instanceof CliError)) throw error;
      context.err.warn(error.message);
    }
  });
}
