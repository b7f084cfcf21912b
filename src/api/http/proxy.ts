import { BlockList, isIP } from 'node:net';
import { usageError } from '../../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ProxyServer {
  /** The proxy's address, without user name and password. */
  readonly url: URL;
  readonly port: number;
  /** Value of a Proxy-Authorization header. */
  readonly authorization?: string;
}

/** Returns the first variable that is set. As in curl, an empty variable counts as not set. */
function firstOf(env: Environment, names: readonly string[]): string | undefined {
  return names.map((name) => env[name]?.trim()).find((value) => value);
}

/**
 * Returns the proxy that curl would use for an address; NO_PROXY wins. Returns none for `http://`,
 * which only services on this computer may use: a proxy would read the key.
 *
 * @throws CliError `usage` for an unusable proxy, since bypassing a requested proxy would be worse.
 * The error does not show the value, which may contain a password.
 */
export function proxyFor(target: URL, env: Environment): ProxyServer | undefined {
  if (target.protocol === 'http:') return undefined;
  const value = firstOf(env, ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']);
  if (value === undefined || isExempt(target, firstOf(env, ['no_proxy', 'NO_PROXY']) ?? '')) {
    return undefined;
  }
  return parse(value.includes('://') ? value : `http://${value}`);
}

/** Scheme, user name with password, and host with port, as curl separates them. */
const PARTS = /^([a-z][a-z0-9+.-]*):\/\/(?:([^/?#]*)@)?([^/?#@]*)/i;

function parse(value: string): ProxyServer {
  const [, scheme = '', login = '', host = ''] = PARTS.exec(value) ?? [];
  if (/^socks/i.test(scheme)) {
    throw usageError(
      `The proxy in the environment is a SOCKS proxy (${scheme.toLowerCase()}://), which is not supported.`,
      'Set https_proxy to an http:// or https:// proxy, or name the host in no_proxy.',
    );
  }
  if (!/^https?$/i.test(scheme)) {
    throw usageError('The proxy in the environment must start with http:// or https://.', REMEDY);
  }
  // A mistyped `http:/proxy` or `http:\\proxy` would select the host `http`.
  if (/^https?:?$/i.test(host) || host.includes('\\')) throw invalid();
  let url: URL;
  try {
    // Without the login: URL reads a backslash in it, as in DOMAIN\user, as the end of the host.
    url = new URL(`${scheme}://${host}`);
  } catch {
    throw invalid();
  }
  // URL drops a scheme's default port, but without a port curl uses 1080 or 443.
  const written = /:([0-9]+)$/.exec(host)?.[1];
  const port = Number(written ?? (url.protocol === 'https:' ? 443 : 1080));
  if (login === '') return { url, port };
  const [user, ...password] = login.split(':').map(decoded);
  const credentials = `${user}:${password.join(':')}`;
  return { url, port, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function invalid() {
  return usageError('The proxy in the environment is not a valid address.', REMEDY);
}

/** Keeps a lone percent sign in a password, as curl does. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const REMEDY = 'Correct https_proxy or all_proxy, or name the host in no_proxy.';

function isExempt(target: URL, list: string): boolean {
  if (list === '*') return true;
  const host = plainHost(target.hostname);
  const port = target.port === '' ? '443' : target.port;
  return list.split(/[\s,]+/).some((entry) => {
    if (entry.includes('/')) return inNetwork(host, entry);
    const match = /^(\[[^\]]*\]|[^:]*)(?::([0-9]+))?$/.exec(entry);
    const name = plainHost(match?.[1] ?? entry).replace(/^\*?\./, '');
    const samePort = match?.[2] === undefined || match[2] === port;
    return samePort && (host === name || host.endsWith(`.${name}`));
  });
}

function plainHost(host: string): string {
  return host.toLowerCase().replace(/[[\]]/g, '').replace(/\.$/, '');
}

function inNetwork(host: string, entry: string): boolean {
  const [address = '', bits = ''] = entry.split('/');
  const network = plainHost(address);
  const family = isIP(network);
  const most = family === 6 ? 128 : 32;
  if (family === 0 || !/^[0-9]{1,3}$/.test(bits) || Number(bits) > most) {
    return false;
  }
  const type = family === 6 ? 'ipv6' : 'ipv4';
  const block = new BlockList();
  block.addSubnet(network, Number(bits), type);
  return block.check(host, type);
}
