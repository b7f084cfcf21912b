import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Computer, createComputer } from '../support/program.ts';
import { RentingService } from '../support/renting-service.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Service, startService } from '../support/service.ts';

const VICTIM = 'deadbeef-0000-4000-8000-000000000001';
const BEARER = '3f0c5d9e-1111-4222-8333-444455556666';

let computer: Computer;
let service: Service;
let renting: RentingService;
beforeEach(async () => {
  renting = new RentingService();
  computer = await createComputer();
  service = await startService((request) => renting.handler(request));
});
afterEach(async () => {
  await service.close();
  await computer.remove();
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

describe('a name like an ID', () => {
  const verbs = ['get', 'stop', 'terminate'] as const;
  const run = async (verb: string) => {
    const before = posts().length;
    const more = verb === 'terminate' ? ['--yes'] : [];
    const { code, stderr } = await gpucloud('instances', verb, VICTIM, ...more);
    return { code, stderr, posts: posts().slice(before) };
  };
  beforeEach(() => {
    renting.rent(BEARER, VICTIM, { status: 'ACTIVE' });
    renting.rent(VICTIM, 'victim', { status: 'ACTIVE' });
  });

  test('is refused before any request', async () => {
    const { code, stderr } = await create(VICTIM);
    expect({ code, requests: service.requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain('must not look like an ID');
  });

  test('finds the tracked instance that has it, and never suggests typing it', async () => {
    const tracked = await gpucloud('instances', 'track', BEARER);
    const stopped = await run('stop');
    expect(stopped).toMatchObject({ posts: [`/instances/${BEARER}/stop`] });
    const ended = await run('terminate');
    expect(ended).toMatchObject({ code: 0, posts: [`/instances/${BEARER}/terminate`] });
    expect(renting.instances.get(VICTIM)?.status).toBe('ACTIVE');
    for (const { stderr } of [tracked, stopped, ended, await run('get')]) {
      expect(stderr).not.toMatch(new RegExp(`gpucloud [^\n]*${VICTIM}`));
    }
  });

  test.each(verbs)("exits with 2 in %s if it is another tracked instance's ID", async (verb) => {
    await gpucloud('instances', 'track', BEARER, VICTIM);
    const { code, stderr, posts } = await run(verb);
    expect({ code, posts }).toEqual({ code: 2, posts: [] });
    expect(stderr).toContain(`victim ${VICTIM}, ${VICTIM} ${BEARER}`);
  });
});
