import { hider, mapValues, maskLeaves } from '../rules/secrets.ts';

/**
 * `metadata` holds "tokens, environment name, etc." (API document: Instance). Its plain words are
 * masked only in that field: masking "production" everywhere would spoil other text.
 */
function isPlainMetadata(path: string, secret: string): boolean {
  return /(^|\.)metadata$/.test(path) && /^[a-z]+$/i.test(secret);
}

/**
 * Free text and links, which may repeat a secret. IDs, times, money, addresses, images and paths
 * are never searched: an environment value of `2026-11` must not mask every date.
 */
const FREE_TEXTS = new Set([
  'message',
  'failure_reason',
  'description',
  'run_command',
  'url',
  'link',
  'href',
]);

/** Connection details: any text may be or contain a secret. */
const WAY_IN = 'connection_info';

/**
 * Returns `value` without its secrets: a copy, if it has any.
 *
 * `paths` are dotted (`connection_info.secrets`, `docker_config.env[].value`). Masks everything
 * under a path, leaf by leaf: keys and structure stay, and so do null and ''. If the service sends
 * an unexpected structure, masks more, never less. Also masks a secret of six characters or more in
 * links (after their host), in free text and in all of `connection_info`. With `shown`, returns
 * `value` unchanged.
 */
export function mask<T>(value: T, paths: readonly string[], shown: boolean): T {
  if (shown || paths.length === 0) return value;
  const secrets = new Set<string>();
  const passwords = new Set<string>();
  let masked: unknown = value;
  for (const path of paths) {
    const found = new Set<string>();
    masked = maskAt(masked, path.replaceAll('[]', '.[]').split('.').filter(Boolean), found);
    for (const secret of found) {
      if (/password$/.test(path)) passwords.add(secret);
      if (!isPlainMetadata(path, secret)) secrets.add(secret);
    }
  }
  // A password is not a name or date, so mask it in every text of the row.
  masked = passwords.size === 0 ? masked : withoutSecrets(masked, hider(passwords), '', true);
  return (secrets.size === 0 ? masked : withoutSecrets(masked, hider(secrets), '', false)) as T;
}

type Hide = ReturnType<typeof hider>;

/** Hides secrets in every text of a JSON value, names of fields included. */
export function hideIn(value: unknown, hide: Hide): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => hideIn(item, hide));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [hide(name), hideIn(inner, hide)]),
  );
}

function maskAt(value: unknown, path: readonly string[], secrets: Set<string>): unknown {
  const [step, ...rest] = path;
  if (step === undefined || value === null || typeof value !== 'object') {
    return value === undefined ? undefined : maskLeaves(value, secrets);
  }
  if (Array.isArray(value)) {
    const next = step === '[]' ? rest : path;
    return value.map((item: unknown) => maskAt(item, next, secrets));
  }
  if (step === '[]') return maskLeaves(value, secrets);
  // Avoids a copy, since most rows have no value at most paths.
  if (!Object.hasOwn(value, step)) return value;
  const field: unknown = Reflect.get(value, step);
  const masked = maskAt(field, rest, secrets);
  if (masked === field) return value;
  return mapValues(value, (other, key) => (key === step ? masked : other));
}

function withoutSecrets(value: unknown, hide: Hide, key: string, inWayIn: boolean): unknown {
  const searched = inWayIn || key === WAY_IN;
  if (typeof value === 'string') {
    return withoutSecretsIn(value, hide, searched || FREE_TEXTS.has(key));
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown) => withoutSecrets(item, hide, key, searched));
  }
  if (typeof value === 'object' && value !== null) {
    return mapValues(value, (field, name) => withoutSecrets(field, hide, name, searched));
  }
  return value;
}

/** Keeps the scheme and host of a link: only the rest can contain a token. */
function withoutSecretsIn(text: string, hide: Hide, searched: boolean): string {
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?[^/?#]*/i.exec(text)?.[0];
  if (host !== undefined && !host.includes('@')) {
    return host + hide(text.slice(host.length));
  }
  return searched || host !== undefined ? hide(text) : text;
}
