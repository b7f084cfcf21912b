import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NEW, ok, RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Installation, install } from './installation.ts';

let at: Installation;
let world: World;
const service = new RentingService();
beforeEach(async () => {
  at = await install();
  world = await createWorld({ handler: service.handler });
});
afterEach(async () => {
  await world.close();
  await at.remove();
});

// No installer writes over a file in place. Whoever does may meet a run that has rented a machine,
// and then it must have all that tells of it.
test.each(['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'id'])(
  'a machine is told with -o %s though its program is written over while it is rented',
  async (format) => {
    service.posts.push(async () => {
      const bytes = await readFile(at.bundle);
      await writeFile(at.bundle, bytes.reverse());
      return ok(service.rent(NEW, 'trainer'), 201);
    });
    const argv = ['instances', 'create', 'trainer', ...HARDWARE, '-o', format];
    const { code, stdout } = await at.run(argv, { env: world.env });
    expect(code).toBe(0);
    expect(stdout).toContain(NEW);
    service.machines.clear();
  },
);
