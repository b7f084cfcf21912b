import { hasSsh } from '../../rules/statuses.ts';
import { findTemplate } from '../catalog/templates.ts';
import { publishesPort } from '../service/instance-view.ts';
import type { Instance } from '../store/state.ts';

/**
 * Returns the page behind a port of an instance, in place of the program of its template or
 * container. Returns undefined if the instance has no such port or is not running.
 */
export function pageOf(instance: Instance | undefined, port: number): string | undefined {
  if (instance === undefined || !hasSsh(instance.status)) return undefined;
  const { name, templateId } = instance;
  const endpoint = findTemplate(templateId)?.endpoints.find((one) => one.port === port);
  if (endpoint === undefined && !publishesPort(instance, port)) return undefined;
  // Shows only the catalog's name or a number, never text from a request.
  const title = `${endpoint?.name ?? `Port ${port}`} on ${name}`;
  return `<!doctype html>
<meta charset="utf-8">
<title>${title}</title>
<h1>${title}</h1>
<p>A page of the gpucloud sandbox. On a real instance, the program on port ${port} responds here.</p>
`;
}
