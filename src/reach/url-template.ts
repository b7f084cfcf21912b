import { fieldOf } from '../api/open-fields.ts';

interface TemplateValues {
  readonly ip: string | undefined;
  readonly port: number | undefined;
  /** `connection_info.secrets`, whose structure is open. */
  readonly secrets: unknown;
}

/**
 * Fills ip, port and secrets into a `url_template` (API document: Template). The document does not
 * show the placeholders' syntax, so `{ip}`, `{{ip}}` and `${ip}` are accepted, and a secret by its key
 * or as `secrets.KEY`. Secrets are percent-encoded.
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
