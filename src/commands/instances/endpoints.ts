import type { Instance, Template, TemplateEndpoint } from '../../api/index.ts';
import type { DetailLine } from '../../output/output.ts';
import { fieldOf, numberField, textField } from '../../reach/open-data.ts';
import { fillTemplate } from '../../reach/url-template.ts';

/** One way into what runs on a machine. */
export interface Endpoint {
  readonly name: string;
  /** A link that a browser can open; null where none is known. */
  readonly url: string | null;
  /** `IP:PORT` where only that is known, or the raw data as text where nothing was recognised. */
  readonly address: string | null;
  readonly port: number | null;
  readonly protocol: string | null;
  readonly is_main: boolean;
  /** Who told: the service's answer, its template with the values put in, or the container's ports. */
  readonly source: 'service' | 'template' | 'container';
}

/** Names under which a service may give the link of an endpoint; the document shows none. */
const LINK_FIELDS = ['url', 'link', 'href'] as const;

/** Names under which it may give the port, the one that is reached from outside first. */
const PORT_FIELDS = ['external_port', 'port', 'internal_port'] as const;

/**
 * The endpoints of a machine: those of `connection_info` as far as they are recognised, otherwise
 * the template's with ip, port and secrets put in, otherwise the published ports of the container.
 *
 * The document leaves all of these structures open, so anything may come, and nothing is guessed:
 * where no link is given, none is made up. A template is only used when it is handed in.
 */
export function endpointsOf(instance: Instance, template?: Template): Endpoint[] {
  const told = fromService(instance);
  if (told.length > 0) {
    return told;
  }
  const filled = (template?.endpoints ?? []).map((endpoint) => fromTemplate(endpoint, instance));
  return filled.length > 0 ? filled : fromContainer(instance);
}

/** The same for the details view, a line each. */
export function endpointLines(instance: Instance): DetailLine[] {
  return endpointsOf(instance).map((endpoint) => ({
    label: endpoint.name,
    value: endpoint.url ?? endpoint.address,
  }));
}

function fromService(instance: Instance): Endpoint[] {
  const given = instance.connection_info?.endpoints;
  if (given == null || given === '') {
    return [];
  }
  if (Array.isArray(given)) {
    return given.map((item: unknown, at) => told(item, `endpoint ${at + 1}`, instance));
  }
  return typeof given === 'object'
    ? Object.entries(given).map(([name, item]) => told(item, name, instance))
    : [told(given, 'endpoint', instance)];
}

function told(item: unknown, fallback: string, instance: Instance): Endpoint {
  const link =
    typeof item === 'string' ? item : firstOf(LINK_FIELDS, (name) => textField(item, name));
  const port = firstOf(PORT_FIELDS, (name) => numberField(item, name)) ?? null;
  const pattern = textField(item, 'url_template');
  const filled =
    pattern === undefined ? undefined : fillTemplate(pattern, valuesOf(instance, port));
  const url = webLink(link) ?? webLink(filled);
  return {
    name: textField(item, 'name') ?? fallback,
    url,
    address: url === null ? (link ?? addressOf(instance, port) ?? rawText(item)) : null,
    port,
    protocol: textField(item, 'protocol') ?? null,
    is_main: fieldOf(item, 'is_main') === true,
    source: 'service',
  };
}

function fromTemplate(endpoint: TemplateEndpoint, instance: Instance): Endpoint {
  const port = endpoint.port ?? null;
  const pattern = endpoint.url_template ?? '';
  const url = webLink(fillTemplate(pattern, valuesOf(instance, port)));
  return {
    name: endpoint.name ?? 'endpoint',
    url,
    address: url === null ? addressOf(instance, port) : null,
    port,
    protocol: endpoint.protocol ?? null,
    is_main: endpoint.is_main === true,
    source: 'template',
  };
}

/** A published port is a fact; what speaks behind it is not known, so no link is made of it. */
function fromContainer(instance: Instance): Endpoint[] {
  const ports = fieldOf(instance.docker_config, 'ports');
  if (!Array.isArray(ports)) {
    return [];
  }
  return ports.map((item: unknown, at) => {
    const port = numberField(item, 'external_port') ?? null;
    return {
      name: textField(item, 'name') ?? `port ${at + 1}`,
      url: null,
      address: addressOf(instance, port),
      port,
      protocol: textField(item, 'protocol') ?? null,
      is_main: fieldOf(item, 'is_main') === true,
      source: 'container',
    };
  });
}

function valuesOf(instance: Instance, port: number | null) {
  return {
    ip: instance.ip_address ?? undefined,
    port: port ?? undefined,
    secrets: instance.connection_info?.secrets,
  };
}

function addressOf(instance: Instance, port: number | null): string | null {
  return instance.ip_address == null || port === null ? null : `${instance.ip_address}:${port}`;
}

/** A link of the web; any other scheme could start a program of the person's computer. */
function webLink(text: string | undefined): string | null {
  if (text === undefined) {
    return null;
  }
  try {
    const { protocol, href } = new URL(text);
    return protocol === 'http:' || protocol === 'https:' ? href : null;
  } catch {
    return null;
  }
}

function rawText(item: unknown): string | null {
  return item == null ? null : JSON.stringify(item);
}

function firstOf<K, T>(keys: readonly K[], read: (key: K) => T | undefined): T | undefined {
  for (const key of keys) {
    const value = read(key);
    if (value !== undefined) return value;
  }
  return undefined;
}
