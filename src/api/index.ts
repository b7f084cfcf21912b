import { type Line, withCall } from './call.ts';
import type { ApiSettings, CallOptions, RawResponse } from './contract.ts';
import { openTransport } from './http/open.ts';
import { createTracer } from './http/trace.ts';
import type { Input, InputOf, Observed, ResultOf, Title } from './operations.ts';
import { type RawRequest, sendRaw } from './raw.ts';
import type { CreateApiKeyBody } from './schemas/api-key.ts';
import type { ActivatePromoBody, TransactionsQuery } from './schemas/billing.ts';
import type { DriveBody } from './schemas/drive.ts';
import type { EventsQuery } from './schemas/instance.ts';
import type { CreateInstanceBody, ReorderInstanceBody } from './schemas/instance-body.ts';
import type { AddSshKeyBody } from './schemas/ssh-key.ts';
import type { SetPasswordBody, UpdateUserBody } from './schemas/user.ts';
import { send } from './send.ts';

export type { ApiSettings, CallOptions, RawResponse } from './contract.ts';
export type { Observed } from './operations.ts';
export type { RawRequest } from './raw.ts';
export type { ApiKey, CreateApiKeyBody } from './schemas/api-key.ts';
export type {
  ActivatePromoBody,
  PromoBonus,
  Transaction,
  TransactionsQuery,
} from './schemas/billing.ts';
export type { Drive, DriveBody } from './schemas/drive.ts';
export type {
  EventsQuery,
  Instance,
  InstanceEvent,
  StatusChange,
} from './schemas/instance.ts';
export type {
  CreateInstanceBody,
  DockerConfig,
  ReorderInstanceBody,
} from './schemas/instance-body.ts';
export type { BaseImage, Offer, Provider } from './schemas/offer.ts';
export type { Meta, Page } from './schemas/page.ts';
export type { AddSshKeyBody, SshKey } from './schemas/ssh-key.ts';
export type { Template, TemplateEndpoint, TemplateVariable } from './schemas/template.ts';
export type { SetPasswordBody, UpdateUserBody, User } from './schemas/user.ts';

/**
 * The 23 documented operations as typed methods, and `call` for anything else. `operations.ts` says
 * how each is sent. Every method throws CliError, or the signal's reason if it ended before anything
 * could have changed.
 */
export type Api = ReturnType<typeof createApi>;

export function createApi(settings: ApiSettings) {
  const base = new URL(settings.baseUrl);
  const line: Line = {
    settings,
    base,
    tracer: createTracer(settings.trace, base.origin, settings.apiKey),
    transport: openTransport(base, settings),
  };
  async function run<T extends Title>(
    title: T,
    input: InputOf<T> & Input,
    options: CallOptions = {},
  ): Promise<ResultOf<T>> {
    const result = await withCall(line, options, (call) => send(call, title, input));
    // The response has passed the schema of its row.
    await settings.observe?.({ title, input, result } as Observed);
    return result as ResultOf<T>;
  }
  return {
    instances: {
      create: (body: CreateInstanceBody, options?: CallOptions) =>
        run('POST /instances', { body }, options),
      reorder: (id: string, body: ReorderInstanceBody, options?: CallOptions) =>
        run('POST /instances/{id}/reorder', { id, body }, options),
      get: (id: string, options?: CallOptions) => run('GET /instances/{id}', { id }, options),
      start: (id: string, options?: CallOptions) =>
        run('POST /instances/{id}/start', { id }, options),
      stop: (id: string, options?: CallOptions) =>
        run('POST /instances/{id}/stop', { id }, options),
      terminate: (id: string, options?: CallOptions) =>
        run('POST /instances/{id}/terminate', { id }, options),
      /** One page, newest first. */
      events: (id: string, query: EventsQuery = {}, options?: CallOptions) =>
        run('GET /instances/{id}/events', { id, query }, options),
    },
    drives: {
      list: (options?: CallOptions) => run('GET /storage/drives', {}, options),
      get: (id: string, options?: CallOptions) => run('GET /storage/drives/{id}', { id }, options),
      /** `size_gb` is in GB. */
      create: (body: DriveBody, options?: CallOptions) =>
        run('POST /storage/drives', { body }, options),
      /** Needs both fields. */
      update: (id: string, body: DriveBody, options?: CallOptions) =>
        run('PATCH /storage/drives/{id}', { id, body }, options),
      resume: (id: string, options?: CallOptions) =>
        run('POST /storage/drives/{id}/resume', { id, body: {} }, options),
    },
    sshKeys: {
      list: (options?: CallOptions) => run('GET /ssh-keys', {}, options),
      add: (body: AddSshKeyBody, options?: CallOptions) => run('POST /ssh-keys', { body }, options),
      delete: (id: string, options?: CallOptions) => run('DELETE /ssh-keys/{id}', { id }, options),
    },
    apiKeys: {
      list: (options?: CallOptions) => run('GET /api-keys', {}, options),
      create: (body: CreateApiKeyBody, options?: CallOptions) =>
        run('POST /api-keys', { body }, options),
    },
    templates: {
      list: (options?: CallOptions) => run('GET /templates', {}, options),
    },
    users: {
      me: (options?: CallOptions) => run('GET /users/me', {}, options),
      update: (body: UpdateUserBody, options?: CallOptions) =>
        run('PATCH /users/me', { body }, options),
      setPassword: (body: SetPasswordBody, options?: CallOptions) =>
        run('POST /users/me/update-password', { body }, options),
    },
    billing: {
      activatePromo: (body: ActivatePromoBody, options?: CallOptions) =>
        run('POST /billing/promo/activate', { body }, options),
      /** One page of the history. */
      transactions: (query: TransactionsQuery = {}, options?: CallOptions) =>
        run('GET /billing/transactions', { query }, options),
    },
    call: (request: RawRequest, options: CallOptions = {}): Promise<RawResponse> =>
      withCall(line, options, (call) => sendRaw(call, request, base)),
    /** Closes all connections, including requests in flight. */
    close: () => line.transport.close(),
  };
}
