import { apiKeysApi } from './api-keys.ts';
import { billingApi } from './billing.ts';
import type { Run } from './calls/call.ts';
import { type CallParts, withCall } from './calls/call.ts';
import { getData } from './calls/perform.ts';
import type { ApiSettings, CallOptions, RawResponse } from './contract.ts';
import { drivesApi } from './drives.ts';
import { openTransport } from './http/open.ts';
import { createTracer } from './http/trace.ts';
import { instancesApi } from './instances.ts';
import { type RawRequest, rawCall } from './raw.ts';
import { type Template, templates } from './schemas/template.ts';
import { sshKeysApi } from './ssh-keys.ts';
import { usersApi } from './users.ts';

export type { ApiSettings, CallOptions, Page, RawResponse } from './contract.ts';
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
  CreateInstanceFields,
  DockerConfig,
  ReorderInstanceBody,
} from './schemas/instance-body.ts';
export { faultsInCreateFields } from './schemas/instance-body.ts';
export type { BaseImage, Offer, Provider } from './schemas/offer.ts';
export type { Meta } from './schemas/page.ts';
export type { AddSshKeyBody, SshKey } from './schemas/ssh-key.ts';
export type { Template, TemplateEndpoint, TemplateVariable } from './schemas/template.ts';
export type { SetPasswordBody, UpdateUserBody, User } from './schemas/user.ts';

/**
 * The 23 documented operations as typed methods, and `call` for anything else. Every method throws
 * CliError, or the signal's reason if it ended before anything could have changed.
 */
export interface Api {
  readonly instances: ReturnType<typeof instancesApi>;
  readonly drives: ReturnType<typeof drivesApi>;
  readonly sshKeys: ReturnType<typeof sshKeysApi>;
  readonly apiKeys: ReturnType<typeof apiKeysApi>;
  readonly templates: {
    /** Lists all available templates (API document: Endpoints, GET /templates). */
    list(options?: CallOptions): Promise<Template[]>;
  };
  readonly users: ReturnType<typeof usersApi>;
  readonly billing: ReturnType<typeof billingApi>;
  call(request: RawRequest, options?: CallOptions): Promise<RawResponse>;
  /** Closes all connections, including requests in flight. */
  close(): Promise<void>;
}

export function createApi(settings: ApiSettings): Api {
  const base = new URL(settings.baseUrl);
  const transport = openTransport(base, settings);
  const parts: CallParts = {
    settings,
    base,
    tracer: createTracer(settings.trace, base.origin, settings.apiKey),
    transport,
  };
  const run: Run = (options, work) => withCall(parts, options ?? {}, work);
  return {
    instances: instancesApi(run),
    drives: drivesApi(run),
    sshKeys: sshKeysApi(run),
    apiKeys: apiKeysApi(run),
    templates: {
      list: (options) =>
        run(options, (call) =>
          getData(call, { heading: 'GET /templates', doing: 'to list the templates' }, templates),
        ),
    },
    users: usersApi(run),
    billing: billingApi(run),
    call: rawCall(run, base),
    close: () => transport.close(),
  };
}
