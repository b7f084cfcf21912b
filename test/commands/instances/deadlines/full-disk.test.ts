import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../../../support/needs.ts';
import { mountSmallDisk } from '../../../support/small-disk.ts';
import { CREATE, deadlineWorld, HOUR, ID, IN_FOUR_HOURS } from './world.ts';

test(
  'terminates an instance past its deadline although the disk is full',
  needs('the right to mount'),
  async () => {
    const disk = await mountSmallDisk('256k,nr_inodes=60');
    const world = await deadlineWorld();
    try {
      const env = { GPUCLOUD_STATE_DIR: join(disk.path, 'state') };
      const made = await world.cli([...CREATE, ...IN_FOUR_HOURS], { env });
      expect(made.code, made.stderr).toBe(0);
      await disk.fill();
      // A full disk may still have room for the lock folder. These files use it up.
      const files = Array.from({ length: 60 }, (_, at) => join(disk.path, `file-${at}`));
      await expect(Promise.all(files.map((file) => writeFile(file, '')))).rejects.toThrow('ENOSPC');
      world.clock.advance(5 * HOUR);
      const { stdout } = await world.cli(['instances', 'reap', '--json'], { env });
      expect(JSON.parse(stdout)).toMatchObject([{ id: ID, outcome: 'terminated' }]);
      expect(world.rented.instances.get(ID)?.status).toBe('TERMINATING');
    } finally {
      await world.close();
      await disk.remove();
    }
  },
);
