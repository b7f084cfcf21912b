import { beforeEach } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';

/** The API document requires UUIDs. */
export const boxId = (at: number) => `b0000000-0000-4000-8000-${String(at).padStart(12, '0')}`;

export let world: SandboxWorld;

/** Gives each test in a file its own sandbox. */
export function openSandbox(): void {
  beforeEach(async () => {
    world = await createSandboxWorld();
  });
}

export async function rent(name: string): Promise<string> {
  const { stdout } = await world.cli(['instances', 'create', name, ...HARDWARE, '--wait', '-q']);
  return stdout.trim();
}
