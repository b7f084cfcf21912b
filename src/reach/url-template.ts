import { fieldOf } from '../api/open-fields.ts';

export interface TemplateValues {
  readonly ip: string | undefined;
  readonly port: number | undefined;
  /** `connection_info.secrets`, whose structure is open. */
  readonly secrets: unknown;
}

/**
 * Puts ip, port and secrets into a `url_template` (API document: Template). The document does not
 * show how placeholders are written, so `{ip}`, `{{ip}}` and `${ip}` are understood, and a secret by
 * its key or as `secrets.KEY`. Secrets are percent-encoded.
 *
 * Answers undefined when a placeholder has no value: half a link would lead nowhere.
 */
export function fillTemplate(pattern: string, values: TemplateValues): string | undefined {
  let complete = true;
  const filled = pattern.replace(
    /\$\{\s*([\w.-]+)\s*\}|\{\{\s*([\w.-]+)\s*\}\}|\{\s*([\w.-]+)\s*\}/g,
    (placeholder, ...keys: (string | undefined)[]) => {
      const key = keys.slice(0, 3).find((found) => found !== undefined) ?? '';
      const value = valueFor(key, values);
      complete &&= value !== undefined;
      return value ?? placeholder;
    },
  );
  return complete ? filled : undefined;
}

function valueFor(key: string, { ip, port, secrets }: TemplateValues): string | undefined {
  switch (key.toLowerCase()) {
    case 'ip':
    case 'host':
    case 'ip_address':
      // An IPv6 address stands in brackets in a link (RFC 3986, section 3.2.2).
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
