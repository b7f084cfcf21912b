import type { DetailLine } from '../../output/output.ts';

/** Names under which a service may give the link of an endpoint; the document shows none. */
const LINK_FIELDS = ['url', 'link', 'href'] as const;

/**
 * The endpoints of `connection_info`, a line each. The document leaves their structure open, so a
 * name and a link are taken where they are recognised and all else is shown as it came.
 */
export function endpointLines(endpoints: unknown): DetailLine[] {
  if (!Array.isArray(endpoints)) {
    return endpoints == null ? [] : [{ label: 'raw', value: JSON.stringify(endpoints) }];
  }
  return endpoints.map((endpoint: unknown, at) => ({
    label: textField(endpoint, 'name') ?? `endpoint ${at + 1}`,
    value:
      LINK_FIELDS.map((field) => textField(endpoint, field)).find((link) => link !== undefined) ??
      (typeof endpoint === 'string' ? endpoint : JSON.stringify(endpoint)),
  }));
}

function textField(value: unknown, field: string): string | undefined {
  const found: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
}
