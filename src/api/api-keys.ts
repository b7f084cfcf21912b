import type { Run } from './calls/call.ts';
import { getData, postOnce } from './calls/perform.ts';
import { bodyOf } from './calls/request.ts';
import type { CallOptions } from './contract.ts';
import {
  type ApiKey,
  apiKey,
  apiKeys,
  type CreateApiKeyBody,
  createApiKeyBody,
} from './schemas/api-key.ts';

export interface ApiKeysApi {
  /** All keys, without their secrets (API document: Endpoints, GET /api-keys). */
  list(options?: CallOptions): Promise<ApiKey[]>;
  /**
   * Creates a key; `secret_key` is in this answer alone (API document: Endpoints, POST /api-keys).
   * Never sent again once it may have left; a doubt is CliError `outcomeUnknown`.
   */
  create(body: CreateApiKeyBody, options?: CallOptions): Promise<ApiKey>;
}

export function apiKeysApi(run: Run): ApiKeysApi {
  return {
    list(options) {
      return run(options, (call) =>
        getData(
          call,
          { heading: 'GET /api-keys', doing: 'to list the API keys', changes: false },
          { method: 'GET', path: '/api-keys' },
          apiKeys,
        ),
      );
    },
    create(body, options) {
      return run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /api-keys',
            doing: `to create the API key ${body.name}`,
            changes: true,
            resource: body.name,
            doubt: 'A key may exist whose secret nobody has seen.',
          },
          { method: 'POST', path: '/api-keys', body: bodyOf(createApiKeyBody, body) },
          apiKey,
        ),
      );
    },
  };
}
