import { expect, test } from 'vitest';
import type { Api, Drive } from '../../src/api/index.ts';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { isReadNow, type Listed, readKnownInstances } from '../../src/instances/known-instances.ts';
import type { Journal } from '../../src/journal/index.ts';
import { turns } from '../support/until.ts';

const NOW = Date.parse('2026-01-15T12:00:00Z');
const at = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

const LAST = {
  ...{ status: 'ACTIVE', seen_at: at(9), price_per_hour_snapshot: '9.50', ssh_port: 22 },
  ...{ ip_address: '192.0.2.1', ssh_username: 'root', paid_until: at(-8), last_billed_at: at(52) },
  ...{ started_at: at(60), updated_at: at(7), created_at: at(61), offer: { id: 'o' } },
  failure_reason: 'kept out of the row',
};
const known = (id: string, more: object = {}) => ({
  ...{ id, name: `${id}-name`, origin: 'create', asked_at: at(99), archived: false },
  ...{ last: undefined, deadline: at(-60), ...more },
});
const RESCUE = { wanted: { paths: [{ remote: 'a', local: '/a' }] }, found: undefined };
const IDLE = { rule: { after: 60_000 }, found: { last: { at: NOW }, since: { at: NOW - 30_000 } } };

const INSTANCES = [
  known('ours', { idle: IDLE, rescue: RESCUE, wasStopped: true }),
  known('again', { origin: 'reorder', wasStopped: false }),
  known('tracked', { origin: 'track', untracked: true }),
  known('ended'),
  known('gone', { last: { ...LAST, offer: { id: 'o', name: 'RTX' } } }),
  known('gone-unseen', { origin: 'track', deadline: undefined }),
  known('gone-bare', { last: { status: 'STOPPED', seen_at: 'soon' } }),
  known('failing', { last: LAST, idle: IDLE }),
  known('failing-bare', { origin: 'track', last: { status: 'TERMINATED', seen_at: at(0) } }),
  known('failing-unseen', { deadline: undefined }),
];
const ARCHIVED = [
  known('over', { archived: true, last: { status: 'TERMINATED' } }),
  known('let-go', { archived: true, untracked: true }),
  known('alive', { archived: true }),
];
const request = (name: string, more = {}) => ({
  ...{ uid: `u-${name}`, name, operation: 'create', asked_at: at(5), offer_id: 'o', ...more },
});

const error = (failure: CliError['failure'], id: string) =>
  new CliError(failure, `${id}: ${failure}.`);
/** What the service shows of each instance; by default, that it is ACTIVE. */
const SHOWN: Readonly<Record<string, object>> = {
  again: { status: 'TERMINATING', name: null },
  ended: { status: 'TERMINATED', name: 'renamed', created_at: at(1), price_per_hour_snapshot: '1' },
  over: { status: 'TERMINATED' },
  alive: { status: 'TERMINATED' },
  strange: { status: 'TERMINATED' },
};

interface How {
  readonly all?: boolean;
  readonly except?: ReadonlySet<string | null>;
  readonly drives?: Promise<readonly Drive[]>;
  readonly unreadable?: readonly string[];
}

/** Lists the instances, with what the command says and how many journals and instances it reads. */
async function listed({ all = false, unreadable = [], drives = Promise.resolve([]), ...how }: How) {
  const said: string[] = [];
  const reads: string[] = [];
  const journal = {
    async read({ archived }: { archived: boolean }) {
      reads.push('journal');
      // Failed drives that nobody handles until then would crash the process.
      await turns();
      return {
        instances: archived ? [...INSTANCES, ...ARCHIVED] : INSTANCES,
        unknown: [request('lost', { deadline: at(-9) }), request('older', { asked_at: at(6) })],
        ...{ inFlight: [request('sent', { asked_at: 'soon', deadline: null })], unreadable },
      };
    },
  } as unknown as Journal;
  const api = {
    instances: {
      get: async (id: string) => {
        reads.push(id);
        if (id === 'refused') throw error('authentication', id);
        if (id.startsWith('gone')) throw error('notFound', id);
        if (id.startsWith('failing')) throw error('unreachable', id);
        return { id, name: `${id} now`, status: 'ACTIVE', ...SHOWN[id] };
      },
    },
  } as unknown as Api;
  const context = {
    ...{ serviceClock: { now: () => NOW }, flags: { profile: 'work' } },
    err: {
      warn: (code: string, text: string) => said.push(`${code}: ${text}`),
      note: (text: string) => said.push(text),
    },
  } as unknown as Context;
  const given = { ...how, all, drives, now: NOW, journal: Promise.resolve(journal) };
  const { rows, faults, driveFault, ...more } = await readKnownInstances(given, api, context);
  const messages = [...faults, driveFault].map((one) => one?.message);
  return { rows, said, reads: reads.sort(), messages, more };
}

const lines = (rows: readonly Listed[]) =>
  `\n${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
const ids = (rows: readonly Listed[]) => rows.map(({ id, name }) => id ?? name).join(' ');
const mounted = async (...all: (string | null)[]) =>
  all.map((id, index) => ({ id: `d${index}`, current_instance_id: id }) as unknown as Drive);

test('shows each kind of instance and request', async () => {
  const { rows, said, messages, more, reads } = await listed({ drives: mounted('ours') });
  expect(reads).toEqual(['journal', ...INSTANCES.map(({ id }) => id)].sort());
  expect(lines(rows)).toMatchSnapshot();
  expect({ said, messages, more }).toEqual({
    said: [],
    messages: [
      'failing: unreachable.',
      'failing-bare: unreachable.',
      'failing-unseen: unreachable.',
      undefined,
    ],
    more: { requested: 10, isPartial: false },
  });
  const now = ['again', 'ended', 'ours', 'tracked'];
  expect(
    rows
      .filter(isReadNow)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(now);
});

test('reads what drives name once, and says what only they name', async () => {
  const named = 'new ours  over new strange let-go alive gone-too lost-file ../x'.split(' ');
  const drives = mounted(null, ...named);
  const unreadable = ['lost-file', '../y'];
  const { rows, said, reads, more } = await listed({ drives, unreadable });
  const own = INSTANCES.map(({ id }) => id);
  expect(reads).toEqual(
    [
      'journal',
      'journal',
      ...own,
      'new',
      'over',
      'strange',
      'alive',
      'gone-too',
      'lost-file',
    ].sort(),
  );
  expect(ids(rows.filter(({ id }) => id !== null && !own.includes(id)))).toBe(
    'gone-too lost-file new strange',
  );
  expect(lines(rows.filter(({ id }) => id === 'new' || id === 'lost-file'))).toBe(
    lines(
      ['lost-file', 'new'].map((id) => ({
        ...{ id, name: `${id} now`, status: 'ACTIVE', ends_at: null, unread: false },
      })),
    ),
  );
  expect({ said, more }).toEqual({
    said: [
      'odd_response: A drive has an invalid instance ID, so its instance may be missing: gpucloud\uFDD0 drives list',
      'Found an instance through its drive and added it to the list: new.',
      'Found an instance through its drive and added it to the list: strange.',
    ],
    more: { requested: 14, isPartial: true },
  });
});

test('reads terminated instances only if all are wanted, and none that the caller has', async () => {
  const except = new Set(['ours', 'over', 'new', 'lost-file']);
  const drives = mounted('new', 'alive');
  const { rows, said } = await listed({ all: true, except, drives, unreadable: ['lost-file'] });
  const own = [...INSTANCES, ...ARCHIVED].map(({ id }) => id).filter((id) => !except.has(id));
  expect(ids(rows).split(' ').sort()).toEqual([...own, 'lost', 'older', 'sent'].sort());
  expect(said).toEqual([]);
});

test('goes on without the drives, but not with a refused key', async () => {
  const drives = Promise.reject(error('unreachable', 'drives'));
  const { messages, more } = await listed({ drives });
  expect({ last: messages.at(-1), more }).toEqual({
    ...{ last: 'drives: unreachable.', more: { requested: 10, isPartial: false } },
  });
  const refused = Promise.reject(error('authentication', 'drives'));
  await expect(listed({ drives: refused })).rejects.toThrow('drives: authentication.');
  const late = listed({ drives: turns(20).then(() => []), unreadable: ['refused'] });
  await expect(late).rejects.toThrow('refused: authentication.');
});
