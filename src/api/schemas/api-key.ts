import * as z from 'zod/mini';
import { apiKeyName } from '../../rules/names.ts';
import { flag, id, ruled, text } from './fields.ts';

/** API document: Resources, API key. `secret_key` is there in the answer to its creation alone. */
export const apiKey = z.looseObject({
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

/** API document: Endpoints, POST /api-keys. */
export const createApiKeyBody = z.strictObject({ name: ruled(apiKeyName) });

export type ApiKey = z.infer<typeof apiKey>;
export type CreateApiKeyBody = z.infer<typeof createApiKeyBody>;
