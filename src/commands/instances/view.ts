import type { Instance } from '../../api/index.ts';
import { fieldOf, numberField, textField } from '../../api/open-fields.ts';
import type { Changed } from '../../instances/change/outcome.ts';
import { idleText } from '../../instances/deadlines/idle-time.ts';
import { rescueState } from '../../instances/deadlines/rescued.ts';
import { requestLines } from '../../instances/rent/planned.ts';
import type { Plan, ShownInstance } from '../../json-results/instances.ts';
import { type DetailLine, field, type Section, type View } from '../../output/output.ts';
import { clean } from '../../rules/clean.ts';
import { REQUEST_SECRETS, SECRETS } from '../../rules/secrets.ts';
import { mayBill } from '../../rules/statuses.ts';
import { endpointLines } from '../../ssh/endpoints.ts';
import { sshCommand } from '../../watch/ssh-endpoint.ts';

const sections: readonly Section<ShownInstance>[] = [
  {
    lines: (i) => [
      { label: 'Name', value: i.name },
      { label: 'ID', value: i.id },
      { label: 'Status', value: i.status, kind: 'status' },
      { label: 'Failure', value: i.failure_reason },
      { label: 'Offer', value: i.offer?.name ?? i.offer?.id },
      { label: 'GPU', value: gpuText(i) },
      { label: 'Host', value: hostText(i) },
      { label: 'Region', value: i.offer?.region },
      { label: 'Image', value: imageText(i) },
      { label: 'Type', value: i.connection_info?.type },
      { label: 'Template', value: nameIn(i.application_template) },
      { label: 'Drive', value: nameIn(i.storage_drive) },
      { label: 'Provider', value: i.provider?.name },
      { label: 'Provider ID', value: i.external_id },
    ],
  },
  {
    heading: 'Money',
    lines: (i) => [
      { label: 'Price per hour', value: i.price_per_hour_snapshot, kind: 'money' },
      {
        label: i.was_stopped ? 'Cost at most' : 'Cost estimate',
        value: i.cost_estimate,
        kind: 'money',
      },
      { label: 'Paid until', value: paidUntil(i), kind: 'time' },
      { label: 'Last charged', value: i.last_billed_at, kind: 'time' },
      { label: 'Deadline', value: endsAt(i), kind: 'time' },
      { label: 'Idle', value: mayBill(i.status) ? idleText(i) : undefined },
      { label: 'Rescue', value: mayBill(i.status) ? rescueState(i) : undefined },
    ],
  },
  {
    heading: 'Connect',
    lines: (i) => [
      { label: 'Address', value: i.ip_address },
      { label: 'SSH', value: sshCommand(i) },
      {
        label: 'SSH keys',
        value: (i.ssh_keys ?? []).map(keyText).join('\n'),
      },
    ],
  },
  { heading: 'Endpoints', lines: endpointLines },
  { heading: 'Container', lines: (i) => containerLines(i.docker_config) },
  {
    heading: 'Times',
    lines: (i) => [
      { label: 'Created', value: i.created_at, kind: 'time' },
      { label: 'Started', value: i.started_at, kind: 'time' },
      { label: 'Updated', value: i.updated_at, kind: 'time' },
      { label: 'Terminated', value: i.terminated_at, kind: 'time' },
    ],
  },
];

export const instanceView: View<ShownInstance> = {
  columns: [
    field('name', 'NAME'),
    field('id', 'ID'),
    field('status', 'STATUS', { kind: 'status', least: 12 }),
    { id: 'offer', header: 'OFFER', value: (i) => i.offer?.name },
    field('price_per_hour_snapshot', 'PER HOUR', { kind: 'money' }),
    field('ip_address', 'ADDRESS'),
    { id: 'paid_until', header: 'PAID UNTIL', kind: 'time', value: paidUntil },
    field('created_at', 'CREATED', { kind: 'time', hidden: true }),
    { id: 'region', header: 'REGION', value: (i) => i.offer?.region, hidden: true },
    { id: 'gpu_count', header: 'GPUS', value: (i) => i.offer?.gpu_count, hidden: true },
    { id: 'image', header: 'IMAGE', value: (i) => i.base_image?.name, hidden: true },
    field('failure_reason', 'FAILURE', { hidden: true }),
    { id: 'ends_at', header: 'ENDS', kind: 'time', value: endsAt, hidden: true },
  ],
  id: (i) => i.id,
  steady: ({ idle_seconds: _idle, cost_estimate: _cost, ...instance }) => instance,
  empty: 'No instances known to this computer.',
  sections,
  secrets: SECRETS.instance,
  json: (i) => ({ ...i, ends_at: endsAt(i) ?? null }),
};

/** Result of commands that rent. `get` shows more. */
export const rentedView: View<ShownInstance> = {
  ...instanceView,
  sections: [
    {
      lines: (i) => [
        { label: 'Name', value: i.name },
        { label: 'Status', value: i.status, kind: 'status' },
        { label: 'Failure', value: i.failure_reason },
        { label: 'Price per hour', value: i.price_per_hour_snapshot, kind: 'money' },
        { label: 'Paid until', value: paidUntil(i), kind: 'time' },
      ],
    },
  ],
};

export const changedView: View<Changed> = {
  columns: [
    field('name', 'NAME'),
    field('id', 'ID'),
    field('status', 'STATUS', { kind: 'status', least: 12 }),
    { id: 'paid_until', header: 'PAID UNTIL', kind: 'time', value: paidUntil },
    { id: 'ends_at', header: 'ENDS', kind: 'time', value: endsAt, hidden: true },
  ],
  id: (c) => c.id,
  empty: 'No changes made.',
  json({ id, name, status, paid_until, ends_at, ...more }) {
    const ends = endsAt({ status, ends_at }) ?? null;
    return { id, name, status, paid_until: paid_until ?? null, ends_at: ends, ...more };
  },
};

/** Omits the deadline of a terminating or terminated instance. */
export function endsAt({ status, ends_at }: Pick<Changed | ShownInstance, 'status' | 'ends_at'>) {
  return mayBill(status) ? ends_at : undefined;
}

/**
 * Omits the paid time of a terminating or terminated instance, since terminating refunds the rest of
 * the hour.
 */
export function paidUntil(instance: Pick<Instance, 'status' | 'paid_until'>) {
  return mayBill(instance.status) ? instance.paid_until : undefined;
}

/** Formats `8 × NVIDIA H100, 80 GB each, 640 GB total, SXM5` from the offer's fields. */
function gpuText({ offer }: Instance): string {
  const model = offer?.gpu_model?.name;
  return listed(
    model == null ? undefined : `${offer?.gpu_count ?? '?'} × ${model}`,
    offer?.gpu_model?.vram_gb == null ? undefined : `${offer.gpu_model.vram_gb} GB each`,
    offer?.vram_gb == null ? undefined : `${offer.vram_gb} GB total`,
    offer?.interconnect,
  );
}

/**
 * Formats `Ubuntu 22.04 (linux 22.04, CUDA 12.4, driver 550.90, docker)` from the image's fields.
 */
function imageText({ base_image: image }: Instance): string | null | undefined {
  if (image == null) {
    return undefined;
  }
  const facts = listed(
    [image.os_type, image.distro_version].filter((part) => part != null).join(' '),
    image.cuda_version == null ? undefined : `CUDA ${image.cuda_version}`,
    image.driver_version == null ? undefined : `driver ${image.driver_version}`,
    image.supports_docker === true ? 'docker' : undefined,
    image.supports_rdp === true ? 'RDP' : undefined,
  );
  const name = image.name ?? image.id;
  return facts === '' ? name : `${name} (${facts})`;
}

/** Formats a key as its name and fingerprint; the fingerprint may be null inside an instance. */
function keyText(key: NonNullable<Instance['ssh_keys']>[number]): string {
  const name = key.name ?? key.id ?? 'a key';
  return key.fingerprint == null ? name : `${name} (${key.fingerprint})`;
}

function hostText({ offer }: Instance): string {
  return listed(
    offer?.cpu_cores == null ? undefined : `${offer.cpu_cores} cores`,
    offer?.ram_gb == null ? undefined : `${offer.ram_gb} GB memory`,
    offer?.root_disk_gb == null ? undefined : `${offer.root_disk_gb} GB disk`,
    offer?.ephemeral_disk_gb == null ? undefined : `${offer.ephemeral_disk_gb} GB fast disk`,
  );
}

function listed(...parts: (string | null | undefined)[]): string {
  return parts.filter((part) => part != null && part !== '').join(', ');
}

/** Reads a name defensively: templates and drives inside an instance have no documented fields. */
function nameIn(value: unknown): string | undefined {
  return textField(value, 'name') ?? textField(value, 'slug') ?? textField(value, 'id');
}

/**
 * Formats `docker_config`, which is "json or null" (API document: Instance). Writes documented
 * fields as docker does, one item per line, and prints other content unchanged.
 */
function containerLines(config: unknown): DetailLine[] {
  if (typeof config !== 'object' || config === null) {
    return [];
  }
  return Object.entries(config).map(([label, value]) => ({ label, value: shown(label, value) }));
}

function shown(label: string, value: unknown): string | number {
  if (value === null) return '';
  if (typeof value === 'string' || typeof value === 'number') return value;
  const written = Object.hasOwn(WRITTEN, label) ? WRITTEN[label] : undefined;
  if (written === undefined || !Array.isArray(value)) return JSON.stringify(value);
  return value.map((item: unknown) => clean(written(item) ?? JSON.stringify(item))).join('\n');
}

/**
 * Formats an item as docker writes it. Returns undefined if it is not as documented (POST
 * /instances).
 */
const WRITTEN: Readonly<Record<string, (item: unknown) => string | undefined>> = {
  ports: portText,
  env: (item) => pair(item, 'key', '=', 'value'),
  volumes: (item) => pair(item, 'host_path', ':', 'container_path'),
};

/** Formats `8080->80/tcp (web, main)`. TCP is the default protocol (API document: Limits). */
function portText(item: unknown): string | undefined {
  const [outer, inner] = [numberField(item, 'external_port'), numberField(item, 'internal_port')];
  if (outer === undefined || inner === undefined) return undefined;
  const protocol = textField(item, 'protocol') ?? 'TCP';
  const marks = listed(textField(item, 'name'), fieldOf(item, 'is_main') === true ? 'main' : null);
  return `${outer}->${inner}/${protocol.toLowerCase()}${marks === '' ? '' : ` (${marks})`}`;
}

function pair(item: unknown, first: string, between: string, second: string): string | undefined {
  const [one, other] = [fieldOf(item, first), fieldOf(item, second)];
  return typeof one === 'string' && typeof other === 'string'
    ? `${one}${between}${other}`
    : undefined;
}

/** The output of `create --dry-run`; `request` is null if there is nothing to send. */
export const plannedView: View<Plan> = {
  columns: [
    { id: 'instance_name', header: 'NAME', value: ({ request }) => request?.instance_name },
    { id: 'offer_id', header: 'OFFER', value: ({ request }) => request?.offer_id },
    { id: 'image_id', header: 'IMAGE', value: ({ request }) => request?.image_id },
  ],
  id: () => null,
  empty: 'No request.',
  sections: [
    {
      heading: 'POST /instances (not sent)',
      lines: ({ request }) => requestLines(request ?? {}),
    },
  ],
  secrets: REQUEST_SECRETS,
};
