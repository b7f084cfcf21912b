import type { Run } from './calls/call.ts';
import { bodyOf } from './calls/operation.ts';
import { getData, postOnce } from './calls/perform.ts';
import type { CallOptions } from './contract.ts';
import {
  type ApiKey,
  apiKey,
  apiKeys,
  type CreateApiKeyBody,
  createApiKeyBody,
} from './schemas/api-key.ts';

export function apiKeysApi(run: Run) {
  return {
    /** Lists all keys, without their secrets (API document: Endpoints, GET /api-keys). */
    list: (options?: CallOptions): Promise<ApiKey[]> =>
      run(options, (call) =>
        getData(call, { heading: 'GET /api-keys', doing: 'to list the API keys' }, apiKeys),
      ),

    /**
     * Creates a key; only this response has `secret_key` (API document: Endpoints, POST /api-keys). Never
     * sent again once it may have left; an unknown outcome is CliError `outcomeUnknown`.
     */
    create: (body: CreateApiKeyBody, options?: CallOptions): Promise<ApiKey> =>
      run(options, (call) =>
        postOnce(
          call,
          {
            heading: 'POST /api-keys',
            doing: `to create the API key ${body.name}`,
            body: bodyOf(createApiKeyBody, body),
            resource: body.name,
            doubt: 'A key may exist whose secret was never shown.',
          },
          apiKey,
        ),
      ),
  };
}
