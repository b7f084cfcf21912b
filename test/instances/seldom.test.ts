import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import {
  type DeadlineWorld,
  deadlineWorld,
  ID,
  IN_FOUR_HOURS,
  journalFolders,
} from '../commands/instances/deadlines/world.ts';
import { whole } from '../support/renting-service.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Answer, no, ok } from '../support/service.ts';

const id = (at: number) => ID.replace('3f', `${at}f`);
const UNNAMED: object = { name: null };
const HIGH = { price_per_hour_snapshot: '100' };

let world: DeadlineWorld;
/** What the command gets with its next call. */
let options: object;
let press: () => void;
/** Answers once the command has ended. */
let late: () => Promise<Answer>;
let release: (answer: Answer) => void;
beforeEach(async () => {
  world = await deadlineWorld();
  let made = 0;
  world.rented.newId = () => {
    made += 1;
    return id(made);
  };
  const [first, second] = [new AbortController(), new AbortController()];
  options = { interrupts: { first: first.signal, second: second.signal } };
  press = () => first.abort(new CliError('interrupted', 'Interrupted.'));
  const answer = new Promise<Answer>((resolve) => {
    release = resolve;
  });
  late = () => answer;
});

const cli = (...argv: string[]) => world.cli(['instances', ...argv, '--json'], options);
const rent = (name: string, ...more: string[]) => cli('create', name, ...HARDWARE, ...more);
const becomes = (status: string, more: object = {}, at = 1) =>
  world.rented.rent(id(at), 'trainer', { status, ...more });

/** Each runs commands, whose transcript shows all that they print, send and store. */
const STORIES: Readonly<Record<string, () => Promise<unknown>>> = {
  'write a job file without a service': async () => {
    const env = { GPUCLOUD_API_KEY: undefined, GPUCLOUD_BASE_URL: undefined };
    await world.cli(['run', '--init', '--offer', 'any card'], { env } as object);
  },
  'run a whole job file on an instance': async () => {
    const file = join(world.home, 'job.yaml');
    await writeFile(file, 'image_id: i\ncommand: make\nenv: {A: x}\nkeep_on_failure: 1h\n');
    await world.cli(['run', '--on', 'box', '-f', file, '--identity', '/dev/null']);
  },
  'expire an instance without a name or a readable deadline': async () => {
    await rent('trainer', ...IN_FOUR_HOURS);
    becomes('ACTIVE', UNNAMED);
    await cli('expire', id(1), '--after', '1h');
    const [folder = ''] = journalFolders(world, 'deadlines');
    await writeFile(join(folder, `${id(1)}.json`), '{');
    await cli('expire', 'trainer', '--if-idle', '45m');
    await cli('expire', 'trainer', '--never');
  },
  'a heartbeat that can not be stored': async () => {
    await mkdir(join(world.home, 'state', 'reap', '%40environment.json', 'x'), { recursive: true });
    await cli('reap', '--every', '5m');
    await rm(join(world.home, 'state', 'reap'), { recursive: true });
    await writeFile(join(world.home, 'state', 'reap'), '');
    await cli('reap', '--status');
  },
  'reap without the time of the service': async () => {
    await rent('trainer', ...IN_FOUR_HOURS);
    world.rented.failing.add('/users/me').add(`/instances/${id(1)}`);
    await cli('reap');
    world.rented.failing.delete('/users/me');
    await rent('box', ...IN_FOUR_HOURS);
    world.rented.failing.add('/users/me').add(`/instances/${id(2)}`);
    await cli('reap');
  },
  'a drive that the service does not list': async () => {
    world.rented.posts = [() => no(409, 'No')];
    await rent('trainer', '--drive', id(9));
  },
  'a refused request that can not be removed': async () => {
    const refuse = async () => {
      for (const folder of journalFolders(world, 'requests')) {
        await rename(folder, `${folder}-moved`);
        await writeFile(folder, '');
      }
      return no(422, 'No');
    };
    world.rented.posts = [refuse];
    await rent('trainer');
  },
  'a created instance that can not be saved': async () => {
    const create = async () => {
      const [requests = ''] = journalFolders(world, 'requests');
      await writeFile(join(requests, '..', 'instances'), '');
      return ok({ id: id(1), name: 'trainer', status: 'PROVISIONING' }, 201);
    };
    world.rented.posts = [create];
    await rent('trainer');
  },
  'reap with a request of unknown outcome that is past its deadline': async () => {
    world.rented.posts = [() => 'hangUp'];
    await rent('trainer', ...IN_FOUR_HOURS);
    world.clock.advance(5 * 3_600_000);
    await cli('reap');
  },
  'take over what another program wrote': async () => {
    becomes('ACTIVE');
    for (const odd of [
      ...[{ has_job: 'yes' }, { rescue: {} }, { rescue: [{ local: 'a' }] }, { ends_at: 'soon' }],
      ...[{ if_idle_seconds: 0 }, { name: 5 }, { id: 5 }, { ends_at: null, if_idle_seconds: null }],
    ]) {
      const stdin = JSON.stringify({ id: id(1), name: 'box', ...odd });
      await world.cli(['instances', 'track', '-'], { stdin });
    }
  },
  'follow several instances that have no event': async () => {
    for (const at of [1, 2, 3, 4, 5]) becomes('ACTIVE', { name: `box-${at}` }, at);
    await cli('track', ...[1, 2, 3, 4, 5].map(id));
    for (const count of [1, 4, 5]) {
      const stop = new AbortController();
      let reads = 0;
      world.rented.events = () => {
        reads += 1;
        if (reads === 3 * count) stop.abort(new CliError('interrupted', 'Interrupted.'));
        return whole([]);
      };
      const ids = [1, 2, 3, 4, 5].slice(0, count).map(id);
      const interrupts = { first: stop.signal, second: new AbortController().signal };
      const argv = ['instances', 'events', ...ids, '--follow'];
      await world.cli(argv, { interrupts });
    }
  },
  'one attempt in the time to retry': async () => {
    world.rented.posts = [() => ({ ...no(429, 'busy'), headers: { 'retry-after': '7200' } })];
    await rent('trainer', '--retry-for', '1m');
  },
  'an instance over --max-price without a name, which is gone at once': async () => {
    world.rented.shows = () => ({ ...HIGH, ...UNNAMED });
    world.rented.terminations = [
      (gone) => {
        world.rented.instances.delete(gone);
        return ok({ status: 'TERMINATING' });
      },
    ];
    await rent('trainer', '--max-price', '99');
  },
  'drives with no, a nameless and an unreadable instance': async () => {
    world.rented.posts = [() => 'hangUp'];
    await rent('trainer');
    becomes('ACTIVE', UNNAMED, 2);
    world.rented.failing.add(`/instances/${id(3)}`);
    const attached = [null, id(2), id(3)];
    world.rented.drives = attached.map((current_instance_id, at) => {
      return { id: `d${at}`, current_instance_id };
    });
    await cli('recover', '--yes');
  },
  'a wait whose log can not be read': async () => {
    await rent('trainer');
    becomes('TERMINATED');
    world.rented.events = () => no(403, 'No');
    await cli('wait', 'trainer');
    options = { env: { GPUCLOUD_API_KEY: undefined } };
    await cli('wait', id(1));
  },
  'a wait for two instances, one of which stays': async () => {
    world.rented.shows = () => ({ status: 'STOPPING' });
    for (const name of ['trainer', 'box']) await rent(name);
    becomes('STOPPED');
    becomes('ERROR', {}, 2);
    await cli('stop', id(1), id(2), '--wait');
  },
  'a stop that the service accepts without a change': async () => {
    await rent('trainer');
    becomes('ACTIVE');
    world.rented.onRead = async () => void world.rented.failing.add(`/instances/${id(1)}`);
    await cli('stop', 'trainer');
  },
  'Ctrl-C while some of several stops wait for their turn': async () => {
    const ids = Array.from({ length: 6 }, (_, at) => id(at + 1));
    for (const at of ids.keys()) becomes('STOPPED', {}, at + 1);
    let arrived = 0;
    world.rented.onRead = async () => {
      arrived += 1;
      if (arrived === 4) press();
      await late();
    };
    await cli('stop', ...ids);
  },
  'Ctrl-C just before a second termination': async () => {
    await rent('trainer');
    becomes('ACTIVE');
    world.rented.terminations = [() => no(503, 'busy')];
    world.clock.sleep = async () => press();
    await cli('terminate', 'trainer', '--yes');
  },
  'Ctrl-C while the list to terminate is read': async () => {
    await rent('trainer');
    world.rented.onRead = async () => {
      press();
      await late();
    };
    await cli('terminate', '--all', '--yes');
  },
};

test.each(Object.entries(STORIES))('%s', async (_what, story) => {
  await story();
  release(ok({}));
});
