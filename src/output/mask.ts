import {
  DEEPEST,
  FREE_TEXTS,
  hider,
  IMAGE_NAMES,
  isPlain,
  MASK,
  mapValues,
  maskLeaves,
  SECRET_NAMES,
  SECRETS,
  withoutUserinfo,
} from '../rules/secrets.ts';

/** Connection details: any text may be or contain a secret. */
const WAY_IN = 'connection_info';

/**
 * Returns `value` without its secrets: a copy, if it has any.
 *
 * `paths` are dotted (`connection_info.secrets`, `docker_config.env[].value`). Masks everything
 * under a path, leaf by leaf: keys and structure stay, and so do null and ''. If the service sends
 * an unexpected structure, masks more, never less. Also masks fields with a secret's name at any
 * depth, and a secret of six characters or more in
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
      if (path.endsWith('password')) passwords.add(secret);
      if (!isPlain(path, secret)) secrets.add(secret);
    }
  }
  masked = maskNamed(masked, secrets, 0);
  // A password is not a name or date, so mask it in every text of the row.
  masked = passwords.size === 0 ? masked : withoutSecrets(masked, hider(passwords), '', true);
  return (secrets.size === 0 ? masked : withoutSecrets(masked, hider(secrets), '', false)) as T;
}

/** Returns an instance's failure reason for a message, without the instance's secrets. */
export function failureReason<I extends { readonly failure_reason?: string | null | undefined }>(
  instance: I,
): string | undefined {
  return mask(instance, SECRETS.instance, false).failure_reason || undefined;
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

/** Masks fields whose name says that they hold a secret. Copies only what changes. */
function maskNamed(value: unknown, secrets: Set<string>, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return MASK;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => maskNamed(item, secrets, depth + 1));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  let isChanged = false;
  const copy = mapValues(value, (field, name) => {
    const masked = SECRET_NAMES.has(name.toLowerCase())
      ? maskLeaves(field, secrets)
      : typeof field === 'string' && IMAGE_NAMES.has(name)
        ? withoutUserinfo(field, secrets)
        : maskNamed(field, secrets, depth + 1);
    isChanged ||= masked !== field;
    return masked;
  });
  return isChanged ? copy : value;
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

/** Whether a text is anywhere in a JSON value. */
function holds(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, inner]) => name.includes(text) || holds(inner, text));
}

/** Hides the keys of this run wherever a response repeats one, such as in a name. */
export function withoutOwn<T>(value: T, keys: ReadonlySet<string>): T {
  const found = [...keys].filter((key) => holds(value, key));
  return found.length === 0 ? value : (hideIn(value, hider(found)) as T);
}
