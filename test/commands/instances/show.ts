import { join } from 'node:path';
import { CliError } from '../../../src/errors.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import type { Answer, RecordedRequest } from '../../support/service.ts';
import { envelope, ok } from '../../support/service.ts';
import { pageOf, type TestEvent } from '../../watch/pages.ts';

export const ID = '3f0c5d9e-1111-4222-8333-444455556666';
export const OTHER = '4f0c5d9e-1111-4222-8333-444455556666';

export const missing: Answer = {
  status: 404,
  body: { statusCode: 404, message: 'Instance not found', error: 'Not Found' },
};
export const refused: Answer = {
  status: 401,
  body: { statusCode: 401, message: 'no', error: 'Unauthorized' },
};

/** Returns the response to a read of a log. `turn` counts the reads of its first page from 1. */
export type Turn = (turn: number, id: string) => readonly TestEvent[] | Answer | 'hangUp';

/** A service whose logs change between reads, until Ctrl-C stops the command. */
export interface Show {
  readonly world: World;
  /** Aborts as main.ts does on a signal. */
  readonly interrupts: { readonly first: AbortSignal; readonly second: AbortSignal };
  ctrlC(failure?: 'interrupted' | 'terminated'): void;
}

export let world: World | undefined;

export async function show(
  log: Turn,
  {
    status = () => 'ACTIVE',
    headers = {},
  }: {
    status?: (reading: number, id: string) => string;
    headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Show> {
  const turns = new Map<string, number>();
  const readings = new Map<string, number>();
  const count = (counts: Map<string, number>, id: string) => {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts.get(id) ?? 0;
  };
  const first = new AbortController();
  const second = new AbortController();
  world = await createWorld({
    handler: ({ path }: RecordedRequest) => {
      const url = new URL(path, 'http://service');
      const id = url.pathname.split('/')[2] ?? '';
      if (!url.pathname.endsWith('/events')) {
        const data = { id, name: `box ${id[0]}`, status: status(count(readings, id), id) };
        return ok(data);
      }
      const page = Number(url.searchParams.get('page'));
      const limit = Number(url.searchParams.get('limit'));
      const found = log(page === 1 ? count(turns, id) : (turns.get(id) ?? 1), id);
      if (found === 'hangUp' || !Array.isArray(found)) return found as Answer | 'hangUp';
      const { data, meta } = pageOf(found, page, limit);
      return {
        status: 200,
        headers,
        body: envelope(data, 200, { ...meta, page }),
      };
    },
  });
  return {
    world,
    interrupts: { first: first.signal, second: second.signal },
    ctrlC: (failure = 'interrupted') => first.abort(new CliError(failure, 'Interrupted.')),
  };
}

export const follow = ({ world, interrupts }: Show, ...more: string[]) =>
  world.cli(['instances', 'events', ID, '--follow', ...more], { interrupts });

/** Tracks an instance, so that its name is known, which nobody could type. */
export const track = ({ world }: Show, ...ids: string[]) =>
  world.cli(['instances', 'track', ID, ...ids]);

export async function scratch(): Promise<string> {
  return join(await temporaryFolder(), 'events.json');
}

export const idsOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).id);
