import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { writeHeartbeat } from '../../../../src/journal/index.ts';
import { RentingService } from '../../../support/renting-service.ts';
import { createWorld, type World, type WorldOptions } from '../../../support/run-cli.ts';
import { HARDWARE } from '../../../support/sandbox-ids.ts';

export const ID = '3f0c5d9e-1111-4222-8333-444455556666';
export const HOUR = 3_600_000;
export const CREATE = ['instances', 'create', 'trainer', ...HARDWARE];
export const IN_FOUR_HOURS = ['--terminate-after', '4h', '--unenforced'];

export interface DeadlineWorld extends World {
  readonly rented: RentingService;
  /** Milliseconds by which the service's clock is ahead of this computer's. */
  ahead: number;
  /**
   * The times in the Date headers of the next responses. Later responses show the service's time.
   */
  readonly dates: ((now: number) => number)[];
  /** Returns the service's time after that many hours, in ISO 8601. */
  at(hours: number): string;
  /** Writes the heartbeat of a scheduled `reap`. */
  arm(profile?: string, account?: string, service?: string): Promise<void>;
  /** Writes the heartbeat of a loop, the process of this ID, without a scheduler. */
  armLoop(parent: number, host?: string): Promise<void>;
  /** Writes the heartbeat of an older gpucloud, which knows only these features. */
  armOlder(older: { program?: string; features?: string[] }, profile?: string): Promise<void>;
}

/** Creates a computer and a renting service with its own clock. */
export async function deadlineWorld(options: Partial<WorldOptions> = {}): Promise<DeadlineWorld> {
  const rented = new RentingService();
  rented.newId = () => ID;
  const world = await createWorld({
    handler: async (request) => {
      const answer = await rented.handler(request);
      if (answer === 'hangUp') return answer;
      const now = world.clock.now() + own.ahead;
      const date = new Date(own.dates.shift()?.(now) ?? now).toUTCString();
      return { ...answer, headers: { date, ...answer.headers } };
    },
    ...options,
  });
  const own: DeadlineWorld = {
    ...world,
    rented,
    ahead: 0,
    dates: [],
    at: (hours) => new Date(world.clock.now() + own.ahead + hours * HOUR).toISOString(),
    arm: (profile = 'work', account = 'user-1', service = world.service.url) =>
      writeHeartbeat(join(world.home, 'state'), profile, {
        service,
        account,
        every: 5 * 60_000,
        at: new Date(world.clock.now()).toISOString(),
        program: '9.9.9',
        features: ['deadline', 'idle', 'job'],
      }),
    armLoop: (parent, host = hostname()) =>
      writeHeartbeat(join(world.home, 'state'), '@environment', {
        service: world.service.url,
        account: 'user-1',
        every: 5 * 60_000,
        at: new Date(world.clock.now()).toISOString(),
        run: { pid: parent + 1, parent, proves: 'loop', host },
        features: ['deadline', 'idle', 'job', 'rescue'],
      }),
    armOlder: (older, profile = 'work') =>
      writeHeartbeat(join(world.home, 'state'), profile, {
        service: world.service.url,
        account: 'user-1',
        every: 5 * 60_000,
        at: new Date(world.clock.now()).toISOString(),
        ...older,
      }),
  };
  return own;
}

/** Rents an instance with a deadline in four hours. */
export async function rentForFourHours({ cli }: World): Promise<void> {
  const { code, stderr } = await cli([...CREATE, ...IN_FOUR_HOURS]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

/** Reads the records of the journal directly from its files. */
export function recordsIn(
  { home }: Pick<World, 'home'>,
  folder: 'requests' | 'instances' | 'deadlines' | 'archive',
): Record<string, unknown>[] {
  const journal = join(home, 'state', 'journal');
  const paths = readdirSync(journal, { recursive: true, encoding: 'utf8' });
  return paths
    .filter((path) => path.includes(`/${folder}/`) && !path.endsWith('.lock'))
    .map((path) => JSON.parse(readFileSync(join(journal, path), 'utf8')));
}

/** Returns the folders with that name, one per account. */
export function journalFolders({ home }: Pick<World, 'home'>, folder: string): string[] {
  const journal = join(home, 'state', 'journal');
  const paths = readdirSync(journal, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => path.endsWith(`/${folder}`)).map((path) => join(journal, path));
}

export async function listed({ cli }: World) {
  const { code, stdout, stderr } = await cli(['instances', 'list', '--all', '--json']);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
