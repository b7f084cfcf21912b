import { Call, type Line } from './call.ts';
import type { ApiSettings, CallOptions } from './contract.ts';
import { createTracer } from './http/trace.ts';
import type { Transport } from './http/transport.ts';
import type { BodyOf, Input, InputOf, Observed, QueryOf, ResultOf, Title } from './operations.ts';
import { type RawAnswer, type RawRequest, sendRaw } from './raw.ts';
import { send } from './send.ts';

export type { ApiSettings, CallOptions, RawResponse } from './contract.ts';
export type { Observed } from './operations.ts';
export type { RawAnswer, RawRequest } from './raw.ts';
export type {
  ActivatePromoBody,
  AddSshKeyBody,
  ApiKey,
  CreateApiKeyBody,
  PromoBonus,
  SetPasswordBody,
  SshKey,
  Transaction,
  TransactionsQuery,
  UpdateUserBody,
  User,
} from './schemas/account.ts';
export type { Drive, DriveBody } from './schemas/drive.ts';
export type { Meta, Page } from './schemas/fields.ts';
export type {
  BaseImage,
  EventsQuery,
  Instance,
  InstanceEvent,
  Offer,
  Provider,
  StatusChange,
} from './schemas/instance.ts';
export type {
  CreateInstanceBody,
  DockerConfig,
  ReorderInstanceBody,
} from './schemas/instance-body.ts';
export type { Template, TemplateEndpoint, TemplateVariable } from './schemas/template.ts';

/**
 * The 23 documented operations as typed methods, and `call` for any other request. `operations.ts`
 * defines how each operation is sent. Every method throws CliError, or the signal's reason if it
 * was aborted before anything could have changed.
 */
export type Api = ReturnType<typeof createApi>;

export function createApi(settings: ApiSettings) {
  const base = new URL(settings.baseUrl);
  const { env, nodeVersion, trace, apiKey } = settings;
  let opened: Promise<Transport> | undefined;
  const line: Line = {
    settings,
    base,
    tracer: trace && createTracer(trace, base.origin, apiKey),
    transport() {
      opened ??= import('./http/transport.ts').then(({ createTransport }) =>
        createTransport(base, env, nodeVersion),
      );
      return opened;
    },
  };
  async function run<T extends Title>(
    title: T,
    input: InputOf<T> & Input,
    options: CallOptions = {},
  ): Promise<ResultOf<T>> {
    if (title !== 'GET /users/me') await settings.preflight?.();
    const call = new Call(line, options);
    try {
      const result = await send(call, title, input);
      // The operation's schema has validated the response.
      await settings.observe?.({ title, input, result } as Observed);
      return result as ResultOf<T>;
    } finally {
      call.end();
    }
  }
  return {
    instances: {
      create: (body: BodyOf<'POST /instances'>, options?: CallOptions) =>
        run('POST /instances', { body }, options),
      reorder: (id: string, body: BodyOf<'POST /instances/{id}/reorder'>, options?: CallOptions) =>
        run('POST /instances/{id}/reorder', { id, body }, options),
      get: (id: string, options?: CallOptions) => run('GET /instances/{id}', { id }, options),
      start: (id: string, options?: CallOptions) =>
        run('POST /instances/{id}/start', { id }, options),
      stop: (id: string, options?: CallOptions) =>
        run('POST /instances/{id}/stop', { id }, options),
      terminate: (id: string, options?: CallOptions) =>
        run('POST /instances/{id}/terminate', { id }, options),
      /** Returns one page of events, newest first. */
      events: (
        id: string,
        query: QueryOf<'GET /instances/{id}/events'> = {},
        options?: CallOptions,
      ) => run('GET /instances/{id}/events', { id, query }, options),
    },
    drives: {
      list: (options?: CallOptions) => run('GET /storage/drives', {}, options),
      get: (id: string, options?: CallOptions) => run('GET /storage/drives/{id}', { id }, options),
      create: (body: BodyOf<'POST /storage/drives'>, options?: CallOptions) =>
        run('POST /storage/drives', { body }, options),
      /** Requires both `name` and `size_gb`. */
      update: (id: string, body: BodyOf<'PATCH /storage/drives/{id}'>, options?: CallOptions) =>
        run('PATCH /storage/drives/{id}', { id, body }, options),
      resume: (id: string, options?: CallOptions) =>
        run('POST /storage/drives/{id}/resume', { id, body: {} }, options),
    },
    sshKeys: {
      list: (options?: CallOptions) => run('GET /ssh-keys', {}, options),
      add: (body: BodyOf<'POST /ssh-keys'>, options?: CallOptions) =>
        run('POST /ssh-keys', { body }, options),
      delete: (id: string, options?: CallOptions) => run('DELETE /ssh-keys/{id}', { id }, options),
    },
    apiKeys: {
      list: (options?: CallOptions) => run('GET /api-keys', {}, options),
      create: (body: BodyOf<'POST /api-keys'>, options?: CallOptions) =>
        run('POST /api-keys', { body }, options),
    },
    templates: {
      list: (options?: CallOptions) => run('GET /templates', {}, options),
    },
    users: {
      me: (options?: CallOptions) => run('GET /users/me', {}, options),
      update: (body: BodyOf<'PATCH /users/me'>, options?: CallOptions) =>
        run('PATCH /users/me', { body }, options),
      setPassword: (body: BodyOf<'POST /users/me/update-password'>, options?: CallOptions) =>
        run('POST /users/me/update-password', { body }, options),
    },
    billing: {
      activatePromo: (body: BodyOf<'POST /billing/promo/activate'>, options?: CallOptions) =>
        run('POST /billing/promo/activate', { body }, options),
      /** Returns one page of transactions. */
      transactions: (query: QueryOf<'GET /billing/transactions'> = {}, options?: CallOptions) =>
        run('GET /billing/transactions', { query }, options),
    },
    async call(request: RawRequest, options: CallOptions = {}): Promise<RawAnswer> {
      await settings.preflight?.();
      const call = new Call(line, options);
      try {
        return await sendRaw(call, request, base);
      } finally {
        call.end();
      }
    },
    /** Closes all connections and aborts the requests in flight. */
    async close(): Promise<void> {
      const transport = await opened?.catch(() => undefined);
      await transport?.close();
    },
  };
}
