import type { Instance, Template, TemplateEndpoint } from '../api/index.ts';
import { fieldOf, numberField, textField } from '../api/open-fields.ts';
import type { Context } from '../context.ts';
import { findInstance } from '../instances/resolve.ts';
import { templateOf } from '../instances/template-of.ts';
import type { DetailLine } from '../output/output.ts';
import { fillTemplate } from './url-template.ts';

/** One way to reach what runs on an instance. */
export interface Endpoint {
  readonly name: string;
  /** A link that a browser can open; null if none is known. */
  readonly url: string | null;
  /** `IP:PORT` if only that is known, or the raw data as text if nothing was recognised. */
  readonly address: string | null;
  readonly port: number | null;
  readonly protocol: string | null;
  readonly is_main: boolean;
  /** The service's response, its template with the values filled in, or the container's ports. */
  readonly source: 'service' | 'template' | 'container';
}

/** An endpoint with the secrets that its link may carry, so that they can be masked in it. */
export interface Connection extends Endpoint {
  readonly secrets: unknown;
}

/** Reads an instance and its endpoints. */
export async function readConnections(
  typed: string,
  context: Context,
): Promise<{ readonly instance: Instance; readonly connections: readonly Connection[] }> {
  const { id } = await findInstance(typed, context);
  const instance = await (await context.api()).instances.get(id);
  return { instance, connections: await connectionsOf(instance, context) };
}

/** The endpoints of an instance that was read; reads its template only if it is needed. */
export async function connectionsOf(
  instance: Instance,
  context: Context,
): Promise<readonly Connection[]> {
  const own = endpointsOf(instance);
  const isEnough =
    own.some(({ source }) => source === 'service') || instance.application_template == null;
  const endpoints = isEnough
    ? own
    : endpointsOf(instance, await templateOf(instance, await context.api()));
  const secrets = instance.connection_info?.secrets;
  return endpoints.map((endpoint) => ({ ...endpoint, secrets }));
}

/** The endpoint that is meant if none is named: the main one, or the only one. */
export function mainOf(connections: readonly Connection[]): Connection | undefined {
  return (
    connections.find((connection) => connection.is_main) ??
    (connections.length === 1 ? connections[0] : undefined)
  );
}

/** Fields that may hold the link of an endpoint; the document shows none. */
const LINK_FIELDS = ['url', 'link', 'href'] as const;

/** Fields that may hold the port; the one reached from outside comes first. */
const PORT_FIELDS = ['external_port', 'port', 'internal_port'] as const;

/**
 * The endpoints of an instance: those of `connection_info` as far as they are recognised, otherwise
 * the template's with ip, port and secrets filled in, otherwise the container's published ports.
 *
 * The document leaves these structures open, so nothing is guessed: without a link, none is made up.
 */
export function endpointsOf(instance: Instance, template?: Template): Endpoint[] {
  const told = fromService(instance);
  if (told.length > 0) {
    return told;
  }
  const filled = (template?.endpoints ?? []).map((endpoint) => fromTemplate(endpoint, instance));
  return filled.length > 0 ? filled : fromContainer(instance);
}

/** The same for the details view, one line each. */
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
    typeof item === 'string'
      ? item
      : LINK_FIELDS.map((name) => textField(item, name)).find((text) => text !== undefined);
  const port =
    PORT_FIELDS.map((name) => numberField(item, name)).find((number) => number !== undefined) ??
    null;
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
