import * as z from 'zod/mini';
import { lazy } from '../../lazy.ts';
import { apiKeyName } from '../../rules/names.ts';
import { fields, type Infer, ruled } from './fields.ts';

/** API document: Resources, API key. Only the response to its creation has `secret_key`. */
export const apiKey = lazy(() => {
  const { id, text, flag } = fields();
  return z.looseObject({
    id,
    name: text,
    key_prefix: text,
    secret_key: text,
    is_active: flag,
    expires_at: text,
    last_used_at: text,
    created_at: text,
    updated_at: text,
  });
});
export const apiKeys = lazy(() => z.array(apiKey()));

/** API document: Endpoints, POST /api-keys. */
export const createApiKeyBody = lazy(() => z.strictObject({ name: ruled(apiKeyName) }));

export type ApiKey = Infer<typeof apiKey>;
export type CreateApiKeyBody = Infer<typeof createApiKeyBody>;
