import { beforeEach, describe, expect, test } from 'vitest';
import { type Computer, createComputer } from '../support/program.ts';
import { RentingService } from '../support/renting-service.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Service, startService } from '../support/service.ts';

let computer: Computer;
let service: Service;
let renting: RentingService;
beforeEach(async () => {
  renting = new RentingService();
  computer = await createComputer();
  service = await startService((request) => renting.handler(request));
});

const gpucloud = (...argv: string[]) =>
  computer.gpucloud(argv, {
    env: { GPUCLOUD_BASE_URL: service.url, GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef' },
  });
const create = (name: string, ...more: string[]) =>
  gpucloud('instances', 'create', name, ...HARDWARE, ...more);
const posts = () =>
  service.requests.filter(({ method }) => method === 'POST').map(({ path }) => path);

describe('two names that differ only in case', () => {
  test('refuses the second like any taken name', async () => {
    const id = (await create('trainer', '-q')).stdout.trim();
    const { code, stderr } = await create('Trainer', '--json');
    expect(code).toBe(5);
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({
      code: 'name_taken',
      resource: id,
      message: `trainer already exists (${id}, PROVISIONING). Nothing was sent.`,
    });
    expect(posts()).toEqual(['/instances']);
    const ended = await gpucloud('instances', 'terminate', 'TRAINER', '--yes');
    expect({ code: ended.code, posts: posts() }).toEqual({
      code: 0,
      posts: ['/instances', `/instances/${id}/terminate`],
    });
  });

  test('sends one request when two processes create them at once, and none while it is unknown', async () => {
    renting.posts.push(async () => {
      await new Promise((resolve) => setTimeout(resolve, 3000));
      return 'hangUp' as const;
    });
    const ended = await Promise.all([create('trainer'), create('Trainer')]);
    expect(ended.map(({ code }) => code)).toEqual([7, 7]);
    expect((await create('TRAINER')).code).toBe(7);
    expect(posts()).toEqual(['/instances']);
  });
});
