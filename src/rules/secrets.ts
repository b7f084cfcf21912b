/** Replaces a secret wherever it would be printed or stored. */
export const MASK = '********';

/**
 * Secrets in the service's objects, as dotted paths (API document: Resources). Every output, trace
 * and file masks these, {@link SECRET_NAMES} and {@link withoutUserinfo}; nothing else lists
 * secrets.
 */
export const SECRETS = {
  apiKey: ['secret_key'],
  instance: [
    'connection_info.secrets',
    'metadata',
    'docker_config.env[].value',
    'docker_config.run_command',
    'application_template.env_vars',
    'application_template.run_command',
  ],
  event: ['payload.x-api-key'],
  // The service does not document that it repeats passwords.
  user: ['current_password', 'new_password', 'password'],
} as const;

/** The secrets of a request that is shown but not sent. */
export const REQUEST_SECRETS: readonly string[] = SECRETS.instance.map((path) => `request.${path}`);

/** The secrets of every object, for a response of unknown kind. */
export const EVERY_SECRET: readonly string[] = Object.values(SECRETS).flat();

/** Field and header names, in lower case, whose value is a secret in any object at any depth. */
export const SECRET_NAMES: ReadonlySet<string> = new Set([
  'x-api-key',
  'api_key',
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'secret_key',
  'password',
]);

/** Fields with a container image's name, which may begin with the registry's user and password. */
export const IMAGE_NAMES: ReadonlySet<string> = new Set(['image', 'image_name']);

/**
 * Masks the password or token in an image's name: `user:token@registry/image`. Adds it to `found`.
 * A digest (`image:tag@sha256:…`) has none.
 */
export function withoutUserinfo(image: string, found: Set<string>): string {
  const [, user = '', password] =
    /^((?:[a-z]+:\/\/)?(?:[^\s/@:]*:)?)(.+)@(?![a-z0-9+._-]+:[0-9a-f]{32,})/is.exec(image) ?? [];
  if (password === undefined) return image;
  if (password.length >= SHORTEST_SECRET) found.add(password);
  return `${user}${MASK}${image.slice(user.length + password.length)}`;
}

/**
 * Whether a secret is too plain to mask outside of its own field: `metadata` holds "tokens,
 * environment name, etc." (API document: Instance), and a command of one word is a program.
 */
export function isPlain(path: string, secret: string): boolean {
  if (/(^|\.)metadata$/.test(path)) return /^[a-z]+$/i.test(secret);
  return /(^|\.)run_command$/.test(path) && !/\s/.test(secret);
}

/**
 * Free text and links, which may repeat a secret. IDs, times, money, addresses, images and paths
 * are never searched: an environment value of `2026-11` must not mask every date.
 */
export const FREE_TEXTS: ReadonlySet<string> = new Set([
  'message',
  'failure_reason',
  'description',
  'run_command',
  'url',
  'link',
  'href',
]);

/**
 * In characters. Shorter secrets, such as `true`, `root` or `en`, are too common to mask in other
 * texts.
 */
export const SHORTEST_SECRET = 6;

/** Maximum nesting to search, since the stack is limited. Real secrets are not deeper. */
export const DEEPEST = 60;

/**
 * Masks every leaf of a JSON value except null and ''. Adds each secret to `found`, since other
 * texts may repeat it. Keeps the texts of fields that `isOpen`.
 */
export function maskLeaves(
  value: unknown,
  found: Set<string>,
  isOpen: (field: string) => boolean = () => false,
  depth = 0,
): unknown {
  if (value === null || value === undefined || value === '') return value;
  if (depth > DEEPEST) return MASK;
  const within = (inner: unknown) => maskLeaves(inner, found, isOpen, depth + 1);
  if (Array.isArray(value)) return value.map(within);
  if (typeof value === 'object') {
    return mapValues(value, (inner, field) =>
      typeof inner === 'string' && isOpen(field) ? inner : within(inner),
    );
  }
  const secret = String(value);
  if (secret.length >= SHORTEST_SECRET) found.add(secret);
  return MASK;
}

/**
 * fromEntries defines each key as data, so a response with the key `__proto__` changes no
 * prototype.
 */
export function mapValues(value: object, change: (field: unknown, key: string) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, change(field, key)]));
}

/** Returns a function that masks these secrets in a text, in every spelling. */
export function hider(secrets: Iterable<string>): (text: string) => string {
  const spellings = [...new Set([...secrets].flatMap(spellingsOf))]
    .filter((spelling) => spelling !== '' && spelling !== MASK)
    // Replace long secrets first, since a secret may contain another one.
    .sort((a, b) => b.length - a.length);
  return (text) => spellings.reduce((left, secret) => left.replaceAll(secret, MASK), text);
}

/** Returns the secret as plain text, inside JSON, inside JSON within JSON, and inside a link. */
function spellingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(inJson).slice(1, -1);
  return [secret, inJson, twice, encodeURIComponent(secret.toWellFormed())];
}

/**
 * Masks text that looks like an API key or a private key, even if it is not registered as a secret.
 */
export function withoutKeys(text: string): string {
  return text
    .replace(/svc_sk_[A-Za-z0-9_-]+/g, 'svc_sk_…')
    .replace(/-----BEGIN[\s\S]*/, '-----BEGIN …');
}

/**
 * Whether a text contains a private key in a format of SSH programs: PEM (OPENSSH, RSA, EC, DSA,
 * PKCS #8), PuTTY, old SSH 1 and SSH.com files, or the bare base64 of an OpenSSH key.
 *
 * Prefers false positives: matching text is never sent and never printed.
 */
export function holdsPrivateKey(text: string): boolean {
  // Windows writes UTF-16, and its zero bytes would hide the words.
  const plain = text.replaceAll('\0', '');
  // gpucloud checks every word of every command line, so search for a fixed text first.
  return (
    (plain.includes('PRIVATE KEY') && /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY/.test(plain)) ||
    plain.includes('PuTTY-User-Key-File-') ||
    (plain.includes('Private-Lines:') && /^Private-Lines:/m.test(plain)) ||
    plain.includes('SSH PRIVATE KEY FILE FORMAT') ||
    // "openssh-key-v1", the start of every OpenSSH private key in base64.
    plain.includes('b3BlbnNzaC1rZXktdj')
  );
}
