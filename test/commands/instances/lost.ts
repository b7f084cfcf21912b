import { expect } from 'vitest';
import { RentingService } from '../../support/renting-service.ts';
import { createWorld, type World, type WorldOptions } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import type { RecordedRequest } from '../../support/service.ts';

export const ID = '3f0c5d9e-1111-4222-8333-444455556666';
export const CREATE = ['instances', 'create', 'trainer', ...HARDWARE];

export let world: World;
export let service: RentingService;

export async function begin(options: Partial<WorldOptions> = {}): Promise<void> {
  service = new RentingService();
  world = await createWorld({ handler: service.handler, ...options });
}

/** Loses the response to a create. With `made`, the service creates the instance first. */
export async function lose(made: boolean, argv: readonly string[] = CREATE): Promise<void> {
  service.posts.push(({ body }) => {
    if (made) service.rent(ID, (body as { instance_name: string }).instance_name);
    return 'hangUp';
  });
  expect((await world.cli(argv)).code).toBe(7);
}

export const posts = (requests: readonly RecordedRequest[]) =>
  requests.filter(({ method }) => method === 'POST');
export const listed = async (...flags: string[]) =>
  JSON.parse((await world.cli(['instances', 'list', '--json', ...flags])).stdout);

export const WARNING =
  'warning: 1 request has an unknown outcome and may be billing. Recover: gpucloud instances recover\n';
