import { lazy } from '../lazy.ts';
import * as z from '../zod.ts';

/** ISO 8601, in UTC. */
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Values of gpucloud's own fields. `api/schemas` defines the service's fields. */
export const fields = lazy(() => {
  const text = z.string();
  const time = z.string().check(z.regex(TIME));
  const roubles = z.string().check(z.regex(/^-?\d+(\.\d+)?$/));
  return {
    text,
    flag: z.boolean(),
    number: z.number(),
    count: z.int(),
    texts: z.array(text),
    maybeText: z.nullable(text),
    maybeFlag: z.nullable(z.boolean()),
    maybeNumber: z.nullable(z.number()),
    time,
    maybeTime: z.nullable(time),
    /** A decimal. */
    roubles,
    maybeRoubles: z.nullable(roubles),
    /** Any value. */
    open: z.unknown(),
  };
});
