import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { type Finding, gatherEvidence, isOfMachine } from './evidence.ts';
import { tooDear } from './max-price.ts';

/**
 * Settles the open requests that what is known by now is conclusive of, after machines were taken
 * into the list. What fails here spoils nothing: the rest is what "recover" is for.
 */
export async function settleOpen(context: Context): Promise<void> {
  try {
    const journal = await context.journal();
    const open = (await journal.unknown()).filter(isOfMachine);
    if (open.length === 0) return;
    const evidence = await gatherEvidence(open, await context.api(), context);
    for (const request of [...open].reverse()) {
      const found = await evidence.find(request);
      if (found !== undefined && found.outcome !== 'unknown') {
        await journal.resolve(request.uid, found.outcome, found.details);
        context.err.note(`Settled the request for ${request.name}: ${found.words}.`);
        warnOfPrice(found, context);
      }
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.err.warn(`Open requests were not compared with it: ${error.message}`);
  }
}

/** Nothing is ended by the way: who takes a machine in may use it. */
function warnOfPrice({ instance, limit }: Finding, { err }: Context): void {
  const found =
    limit === undefined || instance === undefined ? undefined : tooDear(instance, limit);
  if (found !== undefined) {
    err.warn(`${found}, and is billing. To end it: gpucloud instances terminate ${instance?.id}`);
  }
}
