import type { Template, TemplateEndpoint, TemplateVariable } from '../../api/index.ts';
import type { Column, DetailLine, Section, View } from '../../output/output.ts';
import { sectionOf } from '../../output/table/details.ts';

/** Fields without a column. */
const parts: readonly Section<Template>[] = [
  { heading: 'Endpoints', lines: (t) => (t.endpoints ?? []).map(endpointLine) },
  {
    heading: 'Volumes',
    lines: (t) =>
      (t.volumes ?? []).map(({ host_path, container_path }) => ({
        label: host_path ?? 'no host path',
        value: `in the container ${container_path ?? '(no path)'}`,
      })),
  },
  { heading: 'Environment', lines: (t) => environmentLines(t.env_vars) },
  { heading: 'Variables', lines: (t) => (t.variables_schema ?? []).map(variableLine) },
];

const columns: readonly Column<Template>[] = [
  { id: 'slug', header: 'SLUG', value: (t) => t.slug },
  { id: 'name', header: 'NAME', value: (t) => t.name },
  { id: 'description', header: 'DESCRIPTION', value: (t) => t.description },
  { id: 'min_disk_gb', header: 'DISK', kind: 'gigabytes', value: (t) => t.min_disk_gb },
  { id: 'min_cuda_version', header: 'CUDA', value: (t) => t.min_cuda_version },
  { id: 'id', header: 'ID', value: (t) => t.id, hidden: true },
  { id: 'tags', header: 'TAGS', value: (t) => t.tags?.join(','), hidden: true },
  { id: 'image_name', header: 'IMAGE', value: (t) => t.image_name, hidden: true },
  { id: 'run_command', header: 'COMMAND', value: (t) => t.run_command, hidden: true },
  { id: 'shm_size', header: 'SHARED MEMORY', value: (t) => t.shm_size, hidden: true },
  { id: 'is_active', header: 'AVAILABLE', kind: 'yes', value: (t) => t.is_active, hidden: true },
  { id: 'sort_order', header: 'ORDER', value: (t) => t.sort_order, hidden: true },
  { id: 'logo_url', header: 'LOGO', value: (t) => t.logo_url, hidden: true },
  { id: 'created_at', header: 'CREATED', kind: 'time', value: (t) => t.created_at, hidden: true },
  { id: 'updated_at', header: 'UPDATED', kind: 'time', value: (t) => t.updated_at, hidden: true },
  {
    id: 'post_start_script',
    header: 'AFTER START',
    value: (t) => t.post_start_script,
    hidden: true,
  },
];

export const templateView: View<Template> = {
  columns,
  id: (t) => t.id,
  empty: 'No templates.',
  sections: [sectionOf(columns), ...parts],
};

function endpointLine(endpoint: TemplateEndpoint): DetailLine {
  const { auth, name, port, protocol, is_main: main, url_template: link } = endpoint;
  return {
    label: name ?? 'no name',
    value: listed([
      port == null ? null : `port ${port}${protocol == null ? '' : `/${protocol}`}`,
      main === true ? 'main' : null,
      authText(auth),
      link,
    ]),
  };
}

function authText(auth: TemplateEndpoint['auth']): string | null {
  const key = auth?.token_key;
  if (auth?.type == null) {
    return null;
  }
  return key == null || key === '' ? `auth ${auth.type}` : `auth ${auth.type} in ${key}`;
}

function variableLine({ key, type, label, length, generator }: TemplateVariable): DetailLine {
  return {
    label: key ?? 'no key',
    value: listed([label, type, length == null ? null : `${length} characters`, generator]),
  };
}

function listed(parts: readonly (string | null | undefined)[]): string {
  return parts.filter((part) => part != null && part !== '').join(', ');
}

/** `env_vars` is documented as an "object" of "key-value"; anything else is shown as JSON. */
function environmentLines(variables: unknown): DetailLine[] {
  if (variables === null || variables === undefined) {
    return [];
  }
  if (typeof variables !== 'object' || Array.isArray(variables)) {
    return [{ label: 'All', value: JSON.stringify(variables) }];
  }
  return Object.entries(variables).map(([label, value]) => ({
    label,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
}
