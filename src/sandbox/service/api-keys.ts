import { createHash, randomUUID } from 'node:crypto';
import { Refusal } from '../refusal.ts';
import type { ApiKey, State } from '../store/state.ts';
import { iso, isoOrNull } from '../time.ts';
import { randomHex } from './hardware.ts';

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

export function newToken(): string {
  return `${PREFIX}${randomHex(40)}`;
}

/** The built-in token of earlier versions, the same in every sandbox. */
const KNOWN_TO_ALL = 'svc_sk_sandbox_built_in_key';

/**
 * Returns the token of the built-in account. Each state has its own token, since all users of a
 * computer reach a server on loopback. Anyone who can add an SSH key can run commands as the owner.
 */
export function builtInToken(state: State, now: number, token = newToken()): string {
  if (state.builtInToken === undefined) {
    const others = state.apiKeys.filter(({ hash }) => hash !== hashOf(KNOWN_TO_ALL));
    state.apiKeys = [newApiKey('built-in', token, now), ...others];
    state.builtInToken = token;
  }
  return state.builtInToken;
}

/** Creates a key and returns its whole token (POST /api-keys). No other response contains it. */
export function createApiKey(state: State, name: string, now: number): Record<string, unknown> {
  const token = newToken();
  const key = newApiKey(name, token, now);
  state.apiKeys.push(key);
  return { ...shared(key), key_prefix: key.prefix, secret_key: token };
}

/** Returns the keys, newest first (GET /api-keys): no tokens, and each prefix with an ellipsis. */
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
 * Accepts a request, or throws 401 (API document: Authentication; the form of the response is the
 * sandbox's).
 */
export function authenticate(state: State, token: string | undefined, now: number): void {
  if (token === undefined || token === '') {
    throw new Refusal(401, 'The header X-API-KEY is missing');
  }
  const hash = hashOf(token);
  const key = state.apiKeys.find((one) => one.hash === hash);
  // No operation makes a key inactive, or gives it an end.
  if (key === undefined) throw new Refusal(401, 'The API key is not valid');
  // Rounds to the minute, so that most reads don't write the state.
  key.lastUsedAt = now - (now % MINUTE);
}
