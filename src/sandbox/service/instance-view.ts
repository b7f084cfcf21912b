import { findImage } from '../catalog/images.ts';
import { findOffer, offerView, PROVIDER } from '../catalog/offers.ts';
import { findTemplate, type Template, templateInInstance } from '../catalog/templates.ts';
import type { DockerConfig } from '../store/docker-config.ts';
import type { Instance, State } from '../store/state.ts';
import { iso, isoOrNull } from '../time.ts';
import { driveOf, driveView } from './drives.ts';
import { sshKeyView } from './ssh-keys.ts';

/** Returns the response to a start (API document: POST /instances/{id}/start). */
export function startView(instance: Instance): Record<string, unknown> {
  return { status: instance.status, paid_until: isoOrNull(instance.paidUntil) };
}

/** Returns an instance as the service shows it (API document: Instance). */
export function instanceView(state: State, instance: Instance): Record<string, unknown> {
  const offer = findOffer(instance.offerId);
  const image = findImage(instance.imageId);
  const template = findTemplate(instance.templateId);
  const drive = driveOf(state, instance);
  return {
    id: instance.id,
    name: instance.name,
    status: instance.status,
    price_per_hour_snapshot: instance.price,
    ip_address: instance.ipAddress,
    ssh_username: image?.os_type === 'windows' ? 'Administrator' : 'root',
    ssh_port: 22,
    external_id: instance.externalId,
    docker_config: instance.dockerConfig,
    failure_reason: instance.failureReason,
    metadata: { environment: 'sandbox' },
    connection_info: connectionInfo(instance),
    application_template: template === undefined ? null : templateInInstance(template),
    storage_drive: drive === undefined ? null : driveView(drive),
    offer: offer === undefined ? null : offerView(offer),
    provider: PROVIDER,
    base_image: image ?? null,
    ssh_keys: instance.sshKeys.map(sshKeyView),
    paid_until: isoOrNull(instance.paidUntil),
    last_billed_at: isoOrNull(instance.lastBilledAt),
    started_at: isoOrNull(instance.startedAt),
    terminated_at: isoOrNull(instance.terminatedAt),
    created_at: iso(instance.createdAt),
    updated_at: iso(instance.updatedAt),
  };
}

/** Returns the response to a re-order, without `storage_drive` (API document: POST …/reorder). */
export function reorderView(state: State, instance: Instance): Record<string, unknown> {
  const { storage_drive: _, ...shown } = instanceView(state, instance);
  return shown;
}

/**
 * Returns `connection_info` (API document: Instance); null until the provider has allocated the
 * hardware and after the termination.
 */
export function connectionInfo(instance: Instance): Record<string, unknown> | null {
  const { ipAddress: ip, secrets } = instance;
  if (ip === null) return null;
  const template = findTemplate(instance.templateId);
  return {
    type: kindOf(instance),
    secrets,
    endpoints: [
      ...templateEndpoints(template, ip, secrets),
      ...containerEndpoints(instance.dockerConfig, ip),
    ],
  };
}

function kindOf(instance: Instance): 'os_only' | 'template' | 'custom_docker' {
  if (instance.templateId !== null) return 'template';
  return instance.dockerConfig === null ? 'os_only' : 'custom_docker';
}

function templateEndpoints(
  template: Template | undefined,
  ip: string,
  secrets: Readonly<Record<string, string>>,
): Record<string, unknown>[] {
  return (template?.endpoints ?? []).map((endpoint) => ({
    name: endpoint.name,
    internal_port: endpoint.port,
    external_port: endpoint.port,
    protocol: endpoint.protocol,
    is_main: endpoint.is_main,
    url: endpoint.url_template.replace(/\{([A-Za-z_]+)\}/g, (_placeholder, key: string) => {
      if (key === 'ip') return ip;
      return String(key === 'port' ? endpoint.port : secrets[key]);
    }),
  }));
}

export function publishesPort({ dockerConfig }: Instance, port: number): boolean {
  return containerEndpoints(dockerConfig, '').some((one) => one.external_port === port);
}

function containerEndpoints(config: DockerConfig | null, ip: string): Record<string, unknown>[] {
  return (config?.ports ?? []).map((port) => {
    // No field of a port is required: if one number is missing, the other replaces it.
    const external = port.external_port ?? port.internal_port;
    const protocol = port.protocol ?? 'TCP';
    return {
      name: port.name ?? null,
      internal_port: port.internal_port ?? external,
      external_port: external,
      protocol,
      is_main: port.is_main ?? false,
      url: protocol === 'TCP' ? `http://${ip}:${external}` : `udp://${ip}:${external}`,
    };
  });
}
