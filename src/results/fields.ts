import { lazy } from '../lazy.ts';
import * as z from '../zod.ts';

/** ISO 8601, in UTC. */
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** The values of gpucloud's own fields. Fields of the service are as `api/schemas` reads them. */
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
    /** Decimal. */
    roubles,
    maybeRoubles: z.nullable(roubles),
    /** Anything. */
    open: z.unknown(),
  };
});
