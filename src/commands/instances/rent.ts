import type { Api, CallOptions, Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError, type Failure } from '../../errors.ts';
import type { Intent, Outcome, RentalRequest } from '../../rentals/index.ts';
import { salvageId } from '../../rentals/salvage.ts';
import { keepSighting, sightingOf } from './sighting.ts';

/**
 * Sends the one request that rents a machine, with its intent on disk before it and its outcome on
 * disk before anything is printed (design: The journal).
 *
 * Throws what the request throws. When the outcome could not be kept, throws CliError('storage')
 * with the id in its message: then the error itself is the only place that still knows it.
 */
export async function rent(
  request: RentalRequest,
  context: Context,
  send: (api: Api, options: CallOptions) => Promise<Instance>,
): Promise<Instance> {
  const api = await context.api();
  const intent = await (await context.rentals()).intend(request);
  let rented: string | undefined;
  try {
    const instance = await send(api, {
      // From here on a machine may exist: the first Ctrl-C waits for the answer.
      signal: context.interrupts.second,
      async onAnswer({ status, text }) {
        const id = status >= 200 && status < 300 ? salvageId(text) : undefined;
        if (id !== undefined && rented === undefined) {
          rented = id;
          await settle(intent, 'rented', id);
        }
      },
    });
    if (rented === undefined) {
      rented = instance.id;
      await settle(intent, 'rented', instance.id);
    }
    await keepSighting(sightingOf(instance), context);
    return instance;
  } catch (error) {
    if (rented !== undefined) {
      throw error instanceof CliError && error.failure !== 'storage'
        ? rentedButUnclear(rented, request.name, error)
        : error;
    }
    await settle(intent, outcomeOf(error));
    throw error;
  }
}

/** Failures that prove that no machine came of the request, and what is noted for them. */
const CERTAIN: Partial<Record<Failure, Outcome>> = {
  usage: 'not_sent',
  unreachable: 'not_sent',
  interrupted: 'not_sent',
  terminated: 'not_sent',
  hungUp: 'not_sent',
  refused: 'refused',
  notFound: 'refused',
  authentication: 'refused',
  wrongState: 'refused',
  rateLimited: 'refused',
};

function outcomeOf(error: unknown): Outcome {
  return (error instanceof CliError ? CERTAIN[error.failure] : undefined) ?? 'unknown';
}

async function settle(intent: Intent, outcome: Outcome, id?: string): Promise<void> {
  try {
    await intent.settle(outcome, id);
  } catch (error) {
    if (id === undefined || !(error instanceof CliError)) throw error;
    throw new CliError(
      'storage',
      `The machine ${id} was rented, but this could not be written down: ${error.message}`,
      {
        hint: `note the id; end the machine with: gpucloud instances terminate ${id}`,
        resource: id,
        mayBeBilling: true,
        cause: error,
      },
    );
  }
}

function rentedButUnclear(id: string, name: string, error: CliError): CliError {
  return new CliError(
    error.failure === 'outcomeUnknown' ? 'notUnderstood' : error.failure,
    `The machine ${name} was rented (${id}) and is billing, but its answer could not be used: ${error.message}`,
    {
      hint: `gpucloud instances get ${id}`,
      resource: id,
      mayBeBilling: true,
      cause: error,
      ...(error.httpStatus === undefined ? {} : { httpStatus: error.httpStatus }),
    },
  );
}
