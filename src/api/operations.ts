import {
  activatePromoBody,
  addSshKeyBody,
  apiKey,
  apiKeys,
  createApiKeyBody,
  promoBonus,
  setPasswordBody,
  sshKey,
  sshKeys,
  transactions,
  transactionsQuery,
  updateUserBody,
  user,
} from './schemas/account.ts';
import { drive, driveBody, drives, noBody } from './schemas/drive.ts';
import type { Infer, Page, Schema } from './schemas/fields.ts';
import { eventsQuery, instance, instanceEvents, statusChange } from './schemas/instance.ts';
import { createInstanceBody, reorderInstanceBody } from './schemas/instance-body.ts';
import { templates } from './schemas/template.ts';

/** Describes one documented operation. A `{field}` in a text stands for that field of the input. */
export interface Operation {
  /** Completes "The service refused …". */
  readonly doing: string;
  /** Resource type that `{id}` identifies: `an instance`. */
  readonly of?: string;
  /** Body field to name in errors; defaults to `id`. */
  readonly about?: string;
  readonly query?: Schema<unknown>;
  readonly body?: Schema<unknown>;
  /** Schema of a success's `data`; without a schema, any success is accepted. */
  readonly data?: Schema<unknown>;
  /** Response field (or row field) that holds the instance ID. */
  readonly instance?: 'id' | 'current_instance_id' | 'instance_id';
  /** The response must be about the requested instance; any other response is rejected. */
  readonly isItself?: true;
  /** Default page size. Set only for paged operations. */
  readonly pageSize?: number;
  readonly retry: Retry;
  /** Whether a caller can repeat the request, although the client sends it once. */
  readonly isRepeatable?: true;
  /** Describes what may have changed if the outcome is unknown. */
  readonly doubt?: string;
  /** Whether the change that `doubt` describes would bill. */
  readonly bills?: true;
  /** Explains a 404. */
  readonly missing?: string;
  /** Whether a documented 400 is about the resource's state, not the request. */
  readonly needsState?: true;
}

export type Retry =
  /** Safe to repeat: GET, PATCH with absolute values, DELETE. */
  | 'repeat'
  /** Never resend a request once it may have been sent. */
  | 'once';

/** Operation input. Each operation uses some of these fields. */
export interface Input {
  readonly id?: string;
  readonly query?: object;
  readonly body?: object;
}

const INSTANCE = {
  of: 'an instance',
  instance: 'id',
  missing: 'Instance {id} not found',
} as const;
const DRIVES = { instance: 'current_instance_id' } as const;
const DRIVE = { ...DRIVES, of: 'a drive', missing: 'Drive {id} not found' } as const;
const RENTS = {
  retry: 'once',
  bills: true,
  doubt: 'An instance may exist and be billing.',
} as const;

/** The service rolls back a failed change, "so the call can be repeated" (States and transitions). */
const CHANGE = {
  ...INSTANCE,
  data: statusChange,
  isItself: true,
  retry: 'once',
  bills: true,
  needsState: true,
} as const;

/** The 23 operations of the API document (Endpoints), by title. */
export const OPERATIONS = {
  /** Only this response contains `secret_key`. */
  'POST /api-keys': {
    doing: 'to create API key {name}',
    about: 'name',
    body: createApiKeyBody,
    data: apiKey,
    retry: 'once',
    doubt: 'A key may exist.',
  },
  'GET /api-keys': { doing: 'to list the API keys', data: apiKeys, retry: 'repeat' },

  'POST /instances': {
    doing: 'to create instance {instance_name}',
    about: 'instance_name',
    instance: 'id',
    body: createInstanceBody,
    data: instance,
    ...RENTS,
  },
  'POST /instances/{id}/reorder': {
    doing: 'to reorder instance {id} as {new_name}',
    ...INSTANCE,
    body: reorderInstanceBody,
    data: instance,
    ...RENTS,
    needsState: true,
  },
  'GET /instances/{id}': {
    doing: 'to show instance {id}',
    ...INSTANCE,
    data: instance,
    isItself: true,
    retry: 'repeat',
  },
  /** A 500 means that the start failed and was refunded, so gpucloud never resends it. */
  'POST /instances/{id}/start': {
    doing: 'to start instance {id}',
    ...CHANGE,
    doubt: 'The instance may be running and billing.',
  },
  'POST /instances/{id}/stop': {
    doing: 'to stop instance {id}',
    ...CHANGE,
    isRepeatable: true,
    doubt: 'The instance may still be running and billing.',
  },
  'POST /instances/{id}/terminate': {
    doing: 'to terminate instance {id}',
    ...CHANGE,
    isRepeatable: true,
  },
  'GET /instances/{id}/events': {
    doing: 'to list the events of instance {id}',
    ...INSTANCE,
    instance: 'instance_id',
    query: eventsQuery,
    data: instanceEvents,
    pageSize: 10,
    retry: 'repeat',
  },

  'GET /templates': { doing: 'to list the templates', data: templates, retry: 'repeat' },

  'POST /storage/drives': {
    doing: 'to create the drive',
    ...DRIVES,
    about: 'name',
    body: driveBody,
    data: drive,
    retry: 'once',
    bills: true,
    doubt: 'A drive may exist and be billing.',
  },
  'GET /storage/drives': {
    doing: 'to list the drives',
    ...DRIVES,
    data: drives,
    retry: 'repeat',
  },
  'GET /storage/drives/{id}': {
    doing: 'to show drive {id}',
    ...DRIVE,
    data: drive,
    retry: 'repeat',
  },
  'PATCH /storage/drives/{id}': {
    doing: 'to update drive {id}',
    ...DRIVE,
    body: driveBody,
    data: drive,
    retry: 'repeat',
    doubt: "The drive's name, size and price may have changed.",
  },
  'POST /storage/drives/{id}/resume': {
    doing: 'to resume drive {id}',
    ...DRIVE,
    body: noBody,
    data: drive,
    retry: 'once',
    isRepeatable: true,
    bills: true,
    doubt: 'The drive may be in use and billing again.',
    needsState: true,
  },

  'POST /ssh-keys': {
    doing: 'to add SSH key {name}',
    about: 'name',
    body: addSshKeyBody,
    data: sshKey,
    retry: 'once',
    isRepeatable: true,
    doubt: 'The key may have been added.',
  },
  'GET /ssh-keys': { doing: 'to list the SSH keys', data: sshKeys, retry: 'repeat' },
  'DELETE /ssh-keys/{id}': {
    doing: 'to delete SSH key {id}',
    of: 'an SSH key',
    missing: 'SSH key {id} not found',
    retry: 'repeat',
    doubt: 'The key may have been deleted.',
  },

  'GET /users/me': { doing: 'to show the profile', data: user, retry: 'repeat' },
  'PATCH /users/me': {
    doing: 'to update the profile',
    body: updateUserBody,
    data: user,
    retry: 'repeat',
    doubt: 'The name may have changed.',
  },
  'POST /users/me/update-password': {
    doing: 'to set the password',
    body: setPasswordBody,
    data: user,
    retry: 'once',
    doubt: 'Either password may be the valid one.',
  },

  'POST /billing/promo/activate': {
    doing: 'to apply the promo code',
    body: activatePromoBody,
    data: promoBonus,
    retry: 'once',
    doubt: 'The bonus may have been credited.',
    missing: 'Promo code not found',
  },
  'GET /billing/transactions': {
    doing: 'to list the transactions',
    query: transactionsQuery,
    data: transactions,
    pageSize: 20,
    retry: 'repeat',
  },
} as const satisfies Readonly<Record<string, Operation>>;

export type Title = keyof typeof OPERATIONS;
type Row<T extends Title> = (typeof OPERATIONS)[T];

export type BodyOf<T extends Title> =
  Row<T> extends { body: infer B extends Schema<object> } ? Infer<B> : never;

export type QueryOf<T extends Title> =
  Row<T> extends { query: infer Q extends Schema<object> } ? Infer<Q> : never;

export type InputOf<T extends Title> = (T extends `${string}{id}${string}`
  ? { id: string }
  : object) &
  (Row<T> extends { body: Schema<object> } ? { body: BodyOf<T> } : object) &
  (Row<T> extends { query: Schema<object> } ? { query: QueryOf<T> } : object);

export type ResultOf<T extends Title> =
  Row<T> extends { pageSize: number; data: infer D extends Schema<unknown[]> }
    ? Page<Infer<D>[number]>
    : Row<T> extends { data: infer D extends Schema<unknown> }
      ? Infer<D>
      : undefined;

/** An operation that succeeded. */
export type Observed = {
  [T in Title]: { readonly title: T; readonly input: InputOf<T>; readonly result: ResultOf<T> };
}[Title];
