import { lazy } from '../lazy.ts';
import { resourceId } from '../rules/names.ts';
import * as z from '../zod.ts';

/** Schemas keep fields of newer versions. They are built when the first file is read. */
const schemas = lazy(() => {
  const text = z.string();
  // The ID becomes part of a request path.
  const resource = z.string().check(z.refine((id) => resourceId(id).ok));
  const maybe = z.optional(z.nullable(text));
  const time = text.check(z.refine((iso) => !Number.isNaN(Date.parse(iso))));
  return {
    request: z.looseObject({
      version: z.literal(1),
      uid: z.string().check(z.regex(/^[0-9A-Za-z][0-9A-Za-z.-]{0,99}$/)),
      operation: z.enum(['create', 'reorder']),
      name: text,
      /** When the request was made, by this computer's clock. */
      asked_at: text,
      /** The sending process; null once it stopped waiting for the response. */
      pid: z.nullable(z.number()),
      /** Milliseconds after which the process stops waiting for the response. */
      timeout_ms: z.number(),
      offer_id: z.nullable(text),
      /** The terminated instance that is reordered. */
      source_id: z.optional(resource),
      /** RUB per hour. */
      max_price: z.optional(text),
      /** When the instance is to be terminated, by the service's clock (ISO 8601). */
      deadline: z.optional(time),
      /** Milliseconds without use after which the instance is to be terminated. */
      if_idle: z.optional(z.number()),
      /** The instance that a response to this request named, although its outcome is unknown. */
      shown_id: z.optional(resource),
      /** The request body, with secrets masked. */
      body: z.optional(z.record(text, z.unknown())),
    }),
    instance: z.looseObject({
      version: z.literal(1),
      id: resource,
      name: text,
      /** How the instance became known. */
      origin: z.enum(['create', 'reorder', 'read', 'track']),
      /** When it was requested or first seen. */
      known_at: text,
      /** UID of the request that created it. */
      request: z.nullable(text),
      untracked_at: z.optional(text),
      last: z.optional(
        z.looseObject({
          id: resource,
          name: text,
          status: text,
          price_per_hour: maybe,
          offer_name: maybe,
          created_at: maybe,
          terminated_at: maybe,
          /** Other fields of the instance, for a list that can't read it. */
          facts: z.optional(z.record(text, z.union([text, z.number(), z.null()]))),
          seen_at: text,
        }),
      ),
    }),
    /** Times are the service's. */
    drive: z.looseObject({
      version: z.literal(1),
      id: text,
      created_at: z.nullable(text),
      /** Roubles per hour, like the others. */
      price: z.nullable(text),
      /** The highest earlier price, and when a lower one was first seen. */
      before: z.nullable(z.looseObject({ price: text, until: text })),
      /** When it was last seen SUSPENDED, to the hour. */
      suspended_at: z.nullable(text),
      /** When a list first lacked it. */
      gone_at: z.nullable(text),
    }),
    deadline: z.looseObject({
      version: z.literal(1),
      id: resource,
      name: text,
      /** The time of the deadline, by the service's clock; null for none. */
      deadline: z.nullable(time),
      /** Terminates it after so many milliseconds without use. Each setting has a UID of its own. */
      if_idle: z.optional(z.object({ after: z.number().check(z.positive()), uid: text })),
    }),
    /** What the passes of `reap` have found, for the rule with that UID. */
    idle: z.looseObject({
      version: z.literal(1),
      id: resource,
      rule: text,
      /** A pass has begun and not written what it found. */
      begun: z.boolean(),
      since: z.nullable(z.object({ at: z.number(), uptime: z.number() })),
      last: z.nullable(
        z.object({
          /** By the service's clock, in milliseconds, like `since.at`. */
          at: z.number(),
          uptime: z.number(),
          booted: z.number(),
          boot: text,
          cpu: z.number(),
          traffic: z.number(),
        }),
      ),
    }),
    heartbeat: z.looseObject({
      version: z.literal(1),
      service: text,
      /** null until a run has read it. */
      account: z.nullable(text),
      /** Milliseconds between two runs. */
      every: z.number(),
      /** The last run that reached the service with its key, by this computer's clock. */
      at: z.nullable(time),
      /** Milliseconds by which the service's clock was ahead of this computer's then. */
      ahead: z.optional(z.number()),
      /** The entry of `--install` that started it; missing for another scheduler's run. */
      entry: z.optional(text),
      /** Whether the run used the key that is stored in its profile. */
      stored: z.optional(z.boolean()),
      /** Set if a later run did not reach it. */
      failure: z.optional(z.looseObject({ at: time, message: text })),
    }),
    key: z.looseObject({ version: z.literal(1), account: text }),
  };
});

type Schemas = ReturnType<typeof schemas>;
export type RequestRecord = z.infer<Schemas['request']>;
export type InstanceRecord = z.infer<Schemas['instance']>;
export type DriveRecord = z.infer<Schemas['drive']>;
export type DeadlineRecord = z.infer<Schemas['deadline']>;
export type IdleRule = NonNullable<DeadlineRecord['if_idle']>;
export type IdleRecord = z.infer<Schemas['idle']>;
export type Heartbeat = z.infer<Schemas['heartbeat']>;
export type Snapshot = NonNullable<InstanceRecord['last']>;
export type Origin = InstanceRecord['origin'];
export type Operation = RequestRecord['operation'];

/** Parses a record of that kind; undefined if the file is unreadable or foreign. */
export function parseRecord<K extends keyof Schemas>(
  kind: K,
  json: string | undefined,
): z.infer<Schemas[K]> | undefined {
  try {
    return schemas()[kind].parse(JSON.parse(json ?? '')) as z.infer<Schemas[K]>;
  } catch {
    return undefined;
  }
}
