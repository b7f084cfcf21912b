import { randomBytes } from 'node:crypto';
import type { DockerConfig } from './docker-config.ts';
import type { Instance } from './state.ts';
import { findTemplate, type Template } from './templates.ts';

/** Addresses that never reach a real machine (RFC 5737), given out one after the other. */
const NETWORKS = ['203.0.113', '198.51.100', '192.0.2'] as const;
const HOSTS = 254;

/** The address of the machine with this number, counted from 1. */
export function ipAddress(machine: number): string {
  const index = machine - 1;
  const network = NETWORKS[Math.floor(index / HOSTS) % NETWORKS.length] ?? NETWORKS[0];
  return `${network}.${(index % HOSTS) + 1}`;
}

/** The values for a template's `variables_schema` (spec: Template), each of the wanted length. */
export function generateSecrets(template: Template | undefined): Record<string, string> {
  const secrets: Record<string, string> = {};
  for (const { key, length } of template?.variables_schema ?? []) {
    secrets[key] = randomHex(length);
  }
  return secrets;
}

export function randomHex(length: number): string {
  return randomBytes(Math.ceil(length / 2))
    .toString('hex')
    .slice(0, length);
}

/**
 * `connection_info` (spec: Instance); null until the provider gave the hardware and once the
 * instance is gone.
 */
export function connectionInfo(instance: Instance): Record<string, unknown> | null {
  const { ipAddress: ip, secrets } = instance;
  if (ip === null) {
    return null;
  }
  const template = instance.templateId === null ? undefined : findTemplate(instance.templateId);
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
  if (instance.templateId !== null) {
    return 'template';
  }
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
    url: endpoint.url_template.replace(/\{([A-Za-z_]+)\}/g, (placeholder, key: string) => {
      if (key === 'ip') return ip;
      if (key === 'port') return String(endpoint.port);
      return secrets[key] ?? placeholder;
    }),
  }));
}

function containerEndpoints(config: DockerConfig | null, ip: string): Record<string, unknown>[] {
  return (config?.ports ?? []).map((port) => {
    // No field of a port is marked as required: one number stands for both.
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
