import { apiKeyName } from '../../rules/names.ts';
import { type Infer, looseObject, strictObject } from '../../schema/schema.ts';
import { flag, id, ruled, text } from './fields.ts';

/** API document: Resources, API key. `secret_key` is there in the answer to its creation alone. */
export const apiKey = looseObject({
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
export const createApiKeyBody = strictObject({ name: ruled(apiKeyName) });

export type ApiKey = Infer<typeof apiKey>;
export type CreateApiKeyBody = Infer<typeof createApiKeyBody>;
