import { randomBytes } from 'node:crypto';
import type { Template } from '../catalog/templates.ts';

/** Addresses that no real computer has (RFC 5737), assigned in order. */
const NETWORKS = ['203.0.113', '198.51.100', '192.0.2'] as const;
const HOSTS = 254;

/** Returns the address of the instance with this number, counted from 1. */
export function ipAddress(instance: number): string {
  const index = instance - 1;
  const network = NETWORKS[Math.floor(index / HOSTS) % NETWORKS.length];
  return `${network}.${(index % HOSTS) + 1}`;
}

/**
 * Returns values for a template's `variables_schema` (API document: Template), each of the required
 * length.
 */
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
