import { expect, test } from 'vitest';
import { locked } from '../../src/config/store.ts';
import { usageError } from '../../src/errors.ts';

const HELD = Object.assign(new Error('Lock file is already being held'), { code: 'ELOCKED' });

/** A lock that fails with these errors first, and then succeeds. */
function refusing(...errors: Error[]) {
  return async <T>(_path: string, work: () => Promise<T>): Promise<T> => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return await work();
  };
}

test('reports a lock that stays held', async () => {
  const work = async () => 'done';
  await expect(locked('/c.json', work, refusing(HELD))).rejects.toMatchObject({
    failure: 'storage',
    message: expect.stringMatching(/^\/c\.json: .*another gpucloud/),
  });
});

test("reports at the first try a lock that can't be created", async () => {
  const full = Object.assign(new Error('ENOSPC: mkdir'), { code: 'ENOSPC' });
  await expect(locked('/c.json', async () => 'done', refusing(full))).rejects.toMatchObject({
    failure: 'storage',
    message: expect.stringContaining('no space'),
  });
});

test('runs the callback once, whatever it throws', async () => {
  for (const error of [usageError('no'), HELD]) {
    let times = 0;
    const work = async () => {
      times += 1;
      throw error;
    };
    await expect(locked('/c.json', work, refusing())).rejects.toBe(error);
    expect(times).toBe(1);
  }
});
