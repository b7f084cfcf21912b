import { lazy } from '../lazy.ts';
import { resourceId } from '../rules/names.ts';
import * as z from '../zod.ts';

/** Schemas keep fields of newer versions. They are built when the first file is read. */
const schemas = lazy(() => {
  const text = z.string();
  // The ID becomes part of request paths.
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
      /** The sending process; null after it stopped waiting for the response. */
      pid: z.nullable(z.number()),
      /** Milliseconds after which the process stops waiting for a response. */
      timeout_ms: z.number(),
      offer_id: z.nullable(text),
      /** The terminated instance to reorder. */
      source_id: z.optional(resource),
      /** In RUB per hour. */
      max_price: z.optional(text),
      /** When to terminate the instance, by the service's clock (ISO 8601). */
      deadline: z.optional(time),
      /** Milliseconds without use after which to terminate the instance. */
      if_idle: z.optional(z.number()),
      /** The ID that a response to this request showed, although its outcome is unknown. */
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
      /** When the instance was requested or first seen. */
      known_at: text,
      /** UID of the request that created the instance. */
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
      /** Roubles per hour, as in `before`. */
      price: z.nullable(text),
      /** The highest earlier price, and when a lower price was first seen. */
      before: z.nullable(z.looseObject({ price: text, until: text })),
      /** When the drive was last seen SUSPENDED, to the hour. */
      suspended_at: z.nullable(text),
      /** When a list first lacked the drive. */
      gone_at: z.nullable(text),
    }),
    deadline: z.looseObject({
      version: z.literal(1),
      id: resource,
      name: text,
      /** The deadline, by the service's clock; null for none. */
      deadline: z.nullable(time),
      /**
       * Terminates the instance after this many milliseconds without use. Each setting has its own
       * UID.
       */
      if_idle: z.optional(z.object({ after: z.number().check(z.positive()), uid: text })),
    }),
    /** The use that `reap` has recorded for the rule with that UID. */
    idle: z.looseObject({
      version: z.literal(1),
      id: resource,
      rule: text,
      /** A pass of `reap` has begun and not written its result. */
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
      /** null until a run has read the account. */
      account: z.nullable(text),
      /** Milliseconds between runs. */
      every: z.number(),
      /** The last run that reached the service with its key, by this computer's clock. */
      at: z.nullable(time),
      /** Milliseconds by which the service's clock was ahead of this computer's at that time. */
      ahead: z.optional(z.number()),
      /**
       * The scheduler entry that `--install` made and that started the run; missing for other
       * schedulers.
       */
      entry: z.optional(text),
      /** Whether the run used its profile's stored key. */
      stored: z.optional(z.boolean()),
      /** Set if a later run did not reach the service. */
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

/** Parses a record of that kind; undefined if the file is unreadable or has another kind. */
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
