import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import {
  createSshSite,
  createSshWorld,
  ID,
  type SshSite,
  type SshWorld,
} from '../support/ssh-world.ts';

// Tests the built program with the system's OpenSSH and a local server.

let site: SshSite;
let world: SshWorld;

describe('instances top', needs('ssh'), () => {
  beforeAll(async () => {
    site = await createSshSite();
  });
  afterAll(() => site.close());
  beforeEach(async () => {
    world = await createSshWorld(site);
  });

  test('reports memory, CPU and disk, and exits with 10 without nvidia-smi', async () => {
    const { code, stdout } = await world.instances('top', ID, '--json');
    const row = JSON.parse(stdout);
    expect(row).toMatchObject({ id: ID, gpus: [], error: { code: 'not_understood' } });
    expect(row.memory_total_mib).toBeGreaterThan(100);
    expect(row.cpu_percent).toBeGreaterThanOrEqual(0);
    expect(row.disk_used_percent).toBeGreaterThan(0);
    expect(code).toBe(10);
  });
});
