import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { isOfOneReading } from '../errors.ts';
import type { Target } from './resolve.ts';

/** Milliseconds that a person waits for what is told of a machine before something is done to it. */
const PATIENCE = 5000;

/**
 * The machine as it is now, for what is told before a request; undefined where it can't be read, since
 * the request itself tells what is wrong. Throws what a refused key and an interrupt throw.
 */
export async function readBriefly({ id }: Target, context: Context): Promise<Instance | undefined> {
  try {
    return await (await context.api()).instances.get(id, { timeoutMs: PATIENCE });
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    return undefined;
  }
}
