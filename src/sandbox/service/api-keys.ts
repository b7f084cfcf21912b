import { createHash, randomUUID } from 'node:crypto';
import { Refusal } from '../refusal.ts';
import type { ApiKey, State } from '../store/state.ts';
import { iso, isoOrNull } from '../time.ts';
import { randomHex } from './hardware.ts';

/**
 * The key of the built-in account, the same in every sandbox: it only opens a loopback server of
 * the person who started it.
 */
export const SANDBOX_API_KEY = 'svc_sk_sandbox_built_in_key';

const PREFIX = 'svc_sk_sandbox_';
const MINUTE = 60_000;
const SHOWN_CHARACTERS = 4;

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function newApiKey(name: string, token: string, at: number): ApiKey {
  return {
    id: randomUUID(),
    name,
    prefix: token.slice(0, PREFIX.length + SHOWN_CHARACTERS),
    hash: hashOf(token),
    isActive: true,
    expiresAt: null,
    lastUsedAt: null,
    createdAt: at,
    updatedAt: at,
  };
}

/** POST /api-keys: the only response with the whole token. */
export function createApiKey(state: State, name: string, now: number): Record<string, unknown> {
  const token = `${PREFIX}${randomHex(40)}`;
  const key = newApiKey(name, token, now);
  state.apiKeys.push(key);
  return { ...shared(key), key_prefix: key.prefix, secret_key: token };
}

/** GET /api-keys: newest first, without the tokens, the prefix with an ellipsis. */
export function listApiKeys(state: State): Record<string, unknown>[] {
  return [...state.apiKeys]
    .reverse()
    .map((key) => ({ ...shared(key), key_prefix: `${key.prefix}...` }));
}

function shared(key: ApiKey): Record<string, unknown> {
  return {
    id: key.id,
    name: key.name,
    is_active: key.isActive,
    expires_at: isoOrNull(key.expiresAt),
    last_used_at: isoOrNull(key.lastUsedAt),
    created_at: iso(key.createdAt),
    updated_at: iso(key.updatedAt),
  };
}

/**
 * Accepts a request, or throws 401 (spec: Authentication; the form of the response is the
 * sandbox's).
 */
export function authenticate(state: State, token: string | undefined, now: number): void {
  if (token === undefined || token === '') {
    throw new Refusal(401, 'The header X-API-KEY is missing');
  }
  const hash = hashOf(token);
  const key = state.apiKeys.find((one) => one.hash === hash);
  if (key === undefined || !key.isActive || (key.expiresAt !== null && key.expiresAt <= now)) {
    throw new Refusal(401, 'The API key is not valid');
  }
  // To the minute, so that not every read writes the state.
  key.lastUsedAt = now - (now % MINUTE);
}
