import type { Api, Instance, Template } from '../api/index.ts';
import { fieldOf, numberField, textField } from '../api/open-fields.ts';
import type { Context } from '../context.ts';
import type { Endpoint } from '../json-results/instances.ts';
import type { DetailLine } from '../output/output.ts';
import { isSameName } from '../rules/names.ts';

/** An endpoint without its instance. */
type OwnEndpoint = Omit<Endpoint, 'instance_id'>;

/** An endpoint with its instance, and the secrets to mask in its link. */
export interface Connection extends Endpoint {
  readonly instance_name: string;
  readonly secrets: unknown;
}

/** Returns the endpoints of an instance. Reads its template only if needed. */
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
  const { id, name, connection_info } = instance;
  return endpoints.map((endpoint) => ({
    ...endpoint,
    instance_id: id,
    instance_name: name ?? id,
    secrets: connection_info?.secrets,
  }));
}

/** Returns the default endpoint: the main endpoint, or the only one. */
export function mainOf(connections: readonly Connection[]): Connection | undefined {
  return (
    connections.find((connection) => connection.is_main) ??
    (connections.length === 1 ? connections[0] : undefined)
  );
}

/** Returns the endpoint with this name: in the typed case, otherwise in any case. */
export function namedEndpoint(
  name: string,
  connections: readonly Connection[],
): Connection | undefined {
  return (
    connections.find((connection) => connection.name === name) ??
    connections.find((connection) => isSameName(connection.name, name))
  );
}

/** Fields that may hold the link of an endpoint; the document names none. */
const LINK_FIELDS = ['url', 'link', 'href'] as const;

/** Fields that may hold the port, the externally reachable port first. */
const PORT_FIELDS = ['external_port', 'port', 'internal_port'] as const;

/**
 * Returns the endpoints from the first source that has any: `connection_info`, the template with
 * ip, port and secrets filled in, or the container's published ports. The document does not show an
 * item of `connection_info`, so a missing link is never guessed.
 */
export function endpointsOf(instance: Instance, template?: Template): OwnEndpoint[] {
  const lists = [
    ['service', instance.connection_info?.endpoints],
    ['template', template?.endpoints],
    ['container', fieldOf(instance.docker_config, 'ports')],
  ] as const;
  for (const [source, items] of lists) {
    if (Array.isArray(items) && items.length > 0) {
      return items.map((item: unknown, at) => endpointOf(item, at + 1, source, instance));
    }
  }
  return [];
}

/** Formats the endpoints for the details view, one per line. */
export function endpointLines(instance: Instance): DetailLine[] {
  return endpointsOf(instance).map((endpoint) => ({
    label: endpoint.name,
    value: endpoint.url ?? endpoint.address,
  }));
}

function endpointOf(
  item: unknown,
  number: number,
  source: OwnEndpoint['source'],
  instance: Instance,
): OwnEndpoint {
  const { ip_address: ip, connection_info } = instance;
  const link = source === 'service' ? linkIn(item) : undefined;
  const port = PORT_FIELDS.map((name) => numberField(item, name)).find((one) => one !== undefined);
  const values = { ip: ip ?? undefined, port, secrets: connection_info?.secrets };
  const filled = fillTemplate(textField(item, 'url_template') ?? '', values);
  const url = webLink(link) ?? webLink(filled);
  const host = ip?.includes(':') ? `[${ip}]` : ip;
  const address = host == null || port === undefined ? undefined : `${host}:${port}`;
  const raw = source === 'service' && item !== null ? JSON.stringify(item) : undefined;
  return {
    name: textField(item, 'name') ?? `${source === 'container' ? 'port' : 'endpoint'} ${number}`,
    url,
    address: url === null ? (link ?? address ?? raw ?? null) : null,
    port: port ?? null,
    protocol: textField(item, 'protocol') ?? null,
    is_main: fieldOf(item, 'is_main') === true,
    source,
  };
}

function linkIn(item: unknown): string | undefined {
  if (typeof item === 'string') return item;
  return LINK_FIELDS.map((name) => textField(item, name)).find((one) => one !== undefined);
}

/** Accepts only web links, since any other scheme could start a local program. */
function webLink(text: string | undefined): string | null {
  if (text === undefined || !URL.canParse(text)) return null;
  const { protocol, href } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
}

/**
 * Finds the template that an instance was created from. The template fields inside an instance are
 * not documented, so searches the list by ID, slug or name. Returns undefined if the instance has
 * no template, or an unknown one.
 */
async function templateOf(instance: Instance, api: Api): Promise<Template | undefined> {
  const inside = instance.application_template;
  const id = typeof inside === 'string' ? inside : textField(inside, 'id');
  const slug = textField(inside, 'slug');
  const name = textField(inside, 'name');
  if (id === undefined && slug === undefined && name === undefined) {
    return undefined;
  }
  const templates = await api.templates.list();
  return (
    templates.find((template) => template.id === id) ??
    templates.find((template) => slug !== undefined && template.slug === slug) ??
    templates.find((template) => name !== undefined && template.name === name)
  );
}

interface TemplateValues {
  readonly ip: string | undefined;
  readonly port: number | undefined;
  /** `connection_info.secrets`, whose structure is open. */
  readonly secrets: unknown;
}

/**
 * Fills ip, port and secrets into a `url_template` (API document: Template). The document does not
 * show the placeholders' syntax, so `{ip}`, `{{ip}}` and `${ip}` are accepted, and a secret by its
 * key or as `secrets.KEY`. Percent-encodes secrets.
 *
 * Returns undefined if a placeholder has no value: a partial link is useless.
 */
export function fillTemplate(pattern: string, values: TemplateValues): string | undefined {
  let complete = true;
  const filled = pattern.replace(/\$?\{\{?\s*([\w.-]+)\s*\}?\}/g, (placeholder, key: string) => {
    const value = valueFor(key, values);
    complete &&= value !== undefined;
    return value ?? placeholder;
  });
  return complete ? filled : undefined;
}

function valueFor(key: string, { ip, port, secrets }: TemplateValues): string | undefined {
  switch (key.toLowerCase()) {
    case 'ip':
    case 'host':
    case 'ip_address':
      // A link has brackets around an IPv6 address (RFC 3986, section 3.2.2).
      return ip?.includes(':') === true ? `[${ip}]` : ip;
    case 'port':
      return port === undefined ? undefined : String(port);
    default: {
      const secret = fieldOf(secrets, key.replace(/^secrets?\./i, ''));
      return typeof secret === 'string' || typeof secret === 'number'
        ? encodeURIComponent(String(secret))
        : undefined;
    }
  }
}
