import type { CallOptions } from '../contract.ts';
import type { Call } from './call.ts';

/** What the endpoint methods stand on: work within the deadline and the signal of one call. */
export type Run = <T>(
  options: CallOptions | undefined,
  work: (call: Call) => Promise<T>,
) => Promise<T>;
