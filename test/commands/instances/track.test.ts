import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { NEW } from '../../support/renting-service.ts';
import { no, ok } from '../../support/service.ts';
import { begin, CREATE, ID, listed, lose, posts, service, world } from './lost.ts';

describe('instances track or untrack', () => {
  test('tracks an instance, and resolves its request if the user agrees', async () => {
    await begin();
    await lose(true);
    const alone = await world.cli(['instances', 'track', ID, '-o', 'id']);
    expect(alone).toMatchObject({ code: 0, stdout: `${ID}\n` });
    expect(await listed()).toMatchObject([{ status: 'UNKNOWN' }, { id: ID }]);
    const { code } = await world.cli(['instances', 'track', ID], {
      terminal: true,
      stdin: 'y\r',
    });
    expect(code).toBe(0);
    expect(await listed()).toMatchObject([{ id: ID }]);
  });

  test.each([
    ['ACTIVE', true],
    ['TERMINATED', false],
  ])(
    'checks the price that its request allowed of an %s instance: %j',
    async (status, isWarned) => {
      await begin();
      await lose(true, [...CREATE, '--max-price', '50']);
      Object.assign(service.instances.get(ID) ?? {}, { status, price_per_hour_snapshot: '50.01' });
      const terminal = { terminal: true, stdin: 'y\r' };
      const { stderr } = await world.cli(['instances', 'track', ID], terminal);
      const printed = stripVTControlCharacters(stderr).replace(/\s+/g, ' ');
      const warning = `warning: trainer (${ID}) costs 50.01 ₽ per hour, over --max-price 50.00. It may still be billing. To terminate it: gpucloud instances terminate trainer`;
      expect(printed.slice(printed.indexOf('Resolved')).trim()).toBe(
        `Resolved the request for trainer: it created ${ID}.${isWarned ? ` ${warning}` : ''}`,
      );
    },
  );

  test('exits with 3 in track for an unknown ID without --force', async () => {
    await begin();
    expect((await world.cli(['instances', 'track', ID])).code).toBe(3);
    expect(await listed()).toEqual([]);
    expect((await world.cli(['instances', 'track', ID, '--force'])).code).toBe(0);
    expect(await listed()).toMatchObject([{ id: ID, status: 'GONE' }]);
  });

  test('tracks an instance that it cannot read or compare, and names it by its ID', async () => {
    await begin();
    await lose(true);
    service.failing.add(`/instances/${ID}`);
    await world.cli(['instances', 'track', ID, '--force']);
    const untrack = ['instances', 'untrack', ID];
    await world.cli(untrack);
    service.failing.clear();
    const box = { ...service.rent(ID, ''), name: null as never, price_per_hour_snapshot: '89.90' };
    service.instances.set(ID, box);
    service.failing.add('/storage/drives');
    await world.cli(['instances', 'track', ID]);
    await world.cli(untrack);
    expect((await world.cli(['instances', 'untrack', ID, NEW])).code).toBe(3);
  });

  test('shows what it tracked, and exits with 3 for an ID that the service does not know', async () => {
    await begin();
    service.rent(ID, 'old-box');
    await world.cli(['instances', 'track', NEW, ID]);
    await world.cli(['instances', 'track', NEW, NEW]);
  });

  test('tracks an instance that it cannot compare with an open request', async () => {
    let isRefused = false;
    await begin({
      handler: (request) =>
        isRefused && request.path === '/storage/drives' ? no(401, 'no') : service.handler(request),
    });
    await lose(true);
    isRefused = true;
    expect((await world.cli(['instances', 'track', ID])).code).toBe(0);
  });

  test.each(['..', 'a/b', '', 'a?b', 'box1', 'trainer'])(
    'rejects the ID %j in track before any request',
    async (id) => {
      await begin();
      const { code, requests } = await world.cli(['instances', 'track', id]);
      expect({ code, requests }).toEqual({ code: 2, requests: [] });
    },
  );

  test('warns that an untracked instance may still be billing, and lists it with --all', async () => {
    await begin();
    await world.cli(CREATE);
    const { code, requests } = await world.cli([...['instances', 'untrack', 'trainer', '--yes']]);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    expect(await listed()).toEqual([]);
    expect(await listed('--all')).toMatchObject([{ id: NEW }]);
    await world.cli(['instances', 'track', NEW]);
    expect(await listed()).toMatchObject([{ id: NEW }]);
  });

  test('requires --yes to untrack a billing instance when not interactive', async () => {
    await begin();
    await world.cli(CREATE);
    service.rent(ID, 'old-box', { status: 'TERMINATED' });
    await world.cli(['instances', 'track', ID]);
    for (const [argv, stdin] of [
      [['trainer'], ''],
      [['old-box', 'trainer'], ''],
      [['-'], `${ID}\n${NEW}\n`],
    ] as const) {
      const refused = await world.cli(['instances', 'untrack', ...argv], { stdin });
      expect({ ...refused, stderr: '' }).toEqual({ code: 2, stdout: '', stderr: '', requests: [] });
    }
    expect(await listed()).toMatchObject([{ id: NEW }]);
  });

  test('asks before untrack in a terminal, with No as the default', async () => {
    await begin();
    await world.cli(CREATE);
    const kept = await world.cli(['instances', 'untrack', 'trainer'], {
      terminal: true,
      stdin: '\n',
    });
    expect(kept.code).toBe(130);
    expect(kept.stderr).toContain('Untrack trainer?');
    expect(await listed()).toMatchObject([{ id: NEW }]);
    const out = await world.cli(['instances', 'untrack', 'trainer'], {
      terminal: true,
      stdin: 'y\n',
    });
    expect(out.code).toBe(0);
    expect(await listed()).toEqual([]);
  });

  test('does not ask before untrack of a TERMINATED or untracked instance', async () => {
    await begin();
    service.rent(ID, 'old-box', { status: 'TERMINATED' });
    await world.cli(['instances', 'track', ID]);
    await world.cli(['instances', 'untrack', 'old-box', '-o', 'id']);
    await world.cli(CREATE);
    await world.cli(['instances', 'untrack', 'trainer', '--yes']);
    expect((await world.cli(['instances', 'untrack', 'trainer'])).code).toBe(0);
  });

  test('does not report an untracked TERMINATING instance as billing', async () => {
    await begin();
    service.rent(ID, 'old-box', { status: 'TERMINATING' });
    await world.cli(['instances', 'track', ID]);
    await world.cli(['instances', 'untrack', 'old-box']);
    await world.cli(['instances', 'untrack', 'old-box', '--yes']);
  });

  test('requires --yes to untrack an UNKNOWN request', async () => {
    await begin();
    await lose(false);
    expect((await world.cli(['instances', 'untrack', 'trainer'])).code).toBe(2);
    expect(await listed()).toHaveLength(1);
    expect((await world.cli(['instances', 'untrack', 'trainer', '--yes'])).code).toBe(0);
    expect(await listed()).toEqual([]);
    expect((await world.cli(['instances', 'untrack', 'nobody'])).code).toBe(3);
  });
});

describe('Ctrl-C during a create', () => {
  const stop = (controller: AbortController) =>
    controller.abort(new CliError('interrupted', 'Interrupted.'));
  /** Lists the folders of the journal's records. */
  const places = async () => {
    const names = await readdir(join(world.home, 'state', 'journal'), { recursive: true });
    return names.flatMap((name) => /(requests|instances)\/.*\.json$/.exec(name)?.[1] ?? []);
  };

  test('exits with 130 and sends nothing if Ctrl-C is pressed before the request', async () => {
    await begin();
    const [first, second] = [new AbortController(), new AbortController()];
    stop(first);
    const { code, requests } = await world.cli(CREATE, {
      interrupts: { first: first.signal, second: second.signal },
    });
    expect({ code, requests }).toEqual({ code: 130, requests: [] });
    expect(await places()).toEqual([]);
  });

  test.each([['trainer'], [null]])(
    'waits for the response after Ctrl-C, and reports the instance %s as billing',
    async (name) => {
      await begin();
      const [first, second] = [new AbortController(), new AbortController()];
      service.posts.push(async () => {
        stop(first);
        return ok({ ...service.rent(ID, 'trainer'), name }, 201);
      });
      const { code, stdout } = await world.cli([...CREATE, '-q'], {
        interrupts: { first: first.signal, second: second.signal },
      });
      expect({ code, stdout }).toEqual({ code: 130, stdout: `${ID}\n` });
      expect(await places()).toEqual(['instances']);
    },
  );

  test('exits with 7 and reports possible billing if Ctrl-C is pressed twice', async () => {
    await begin();
    const [first, second] = [new AbortController(), new AbortController()];
    service.posts.push(async () => {
      stop(first);
      stop(second);
      return 'hangUp' as const;
    });
    await world.cli([...CREATE, '--json'], {
      interrupts: { first: first.signal, second: second.signal },
    });
    expect(await places()).toEqual(['requests']);
  });
});

describe('an unusable journal', () => {
  test('exits with 9 for an unusable journal in list and create, but not in get by ID', async () => {
    await begin();
    service.rent(ID, 'trainer');
    await rm(join(world.home, 'state', 'journal'), { recursive: true });
    await writeFile(join(world.home, 'state', 'journal'), 'no folder');
    await world.cli(['instances', 'get', ID, '-q']);
    expect((await world.cli(['instances', 'list'])).code).toBe(9);
    const { code: created, requests } = await world.cli(CREATE);
    expect({ created, posts: posts(requests) }).toEqual({ created: 9, posts: [] });
  });
});
