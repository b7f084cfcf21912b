import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  heartbeatOf,
  heartbeatsIn,
  type Journal,
  removeHeartbeat,
  writeHeartbeat,
} from '../../src/journal/index.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { manualClock } from '../support/clock.ts';
import { journalIn, RENTAL } from '../support/journal.ts';
import { storedIn, storedLines } from '../support/stored-lines.ts';
import { numbered } from '../support/transcript.ts';

// Compares what each step returns, warns and stores. Each step is a process of its own.

const ONE = '11111111-2222-4222-8333-444455556666';
const TWO = '11111111-2222-4222-8333-444455557777';
const MADE = { id: ONE, name: 'box', status: 'ACTIVE', price_per_hour_snapshot: '9' };
const RULE = { after: 600_000, uid: 'rule-1' };
const RESCUE = { uid: 'r', paths: [{ remote: 'out', local: '/out' }], budget: null, early: 5 };
const ENDS = { deadline: '2026-01-15T16:00:00.000Z', if_idle: RULE, rescue: RESCUE };
const USED = { begun: false, since: { at: 1, uptime: 2 }, last: null };
const EVENT = {
  ...{ version: 1 as const, key: 'ended-1', event: 'job_ended' as const, id: ONE, name: 'box' },
  ...{ message: 'Done.', exit_code: 0, at: '2026-01-15T12:00:00.000Z', sent_at: null },
};
const EVENTS = [
  ...(['job_ended', 'terminated_at_deadline', 'terminated_idle', 'rescued'] as const),
  ...(['rescue_failed', 'terminate_failed', 'outcome_unknown'] as const),
];
const HEARTBEAT = { service: 'sandbox', account: 'user-1', every: 60_000, at: null };

interface Computer {
  readonly state: string;
  readonly clock: ReturnType<typeof manualClock>;
  /** Stores a file of another program or version in the account's folder. */
  put(file: string, content: unknown): void;
}

type Step = (journal: Journal, computer: Computer) => unknown;

const open =
  (more: object = {}, agreed: readonly string[] = []): Step =>
  async (journal) => {
    const request = { ...RENTAL, ...more };
    return (await journal.open(request, new Set(agreed))) !== undefined;
  };
const later =
  (minutes: number): Step =>
  (_journal, { clock }) =>
    clock.advance(minutes * 60_000);
const read: Step = (journal) => journal.read();
const readAll: Step = (journal) => journal.read({ archived: true });
const find: Step = (journal) => journal.instance(ONE);
const deadlines: Step = (journal) => journal.deadlines();
const observe =
  (more: object = {}): Step =>
  (journal) =>
    journal.observe({ ...MADE, ...more });
const add =
  (origin: 'track' | 'create', more?: object): Step =>
  (journal) =>
    journal.add(ONE, origin, more && { ...MADE, ...more });
const expire =
  (ends: object): Step =>
  (journal) =>
    journal.withDeadline(ONE, async ({ set, ...held }) => {
      await set('box', ends);
      return held;
    });
/** Settles the only open request. */
const settle =
  (ends?: boolean): Step =>
  async (journal) => {
    const [request] = await journal.requests();
    return request && journal.settle(request.uid, ONE, ends);
  };
const put =
  (file: string, content: unknown): Step =>
  (_journal, computer) =>
    computer.put(file, content);

const STORIES: Readonly<Record<string, readonly Step[]>> = {
  'an observed instance that is tracked': [observe(), find, add('track'), find, add('track')],
  'a rented instance that is tracked': [add('create'), later(1), add('track', {}), find],
  'a tracked instance that ends': [
    add('track'),
    expire(ENDS),
    observe({ name: null, status: 'STOPPING' }),
    observe({ status: 'TERMINATED', price_per_hour_snapshot: null }),
    later(1),
    observe({ status: 'TERMINATED' }),
    read,
    readAll,
    (journal) => journal.ends(ONE),
  ],
  'an untracked instance': [
    add('track', {}),
    (journal) => journal.untrack(TWO),
    later(1),
    (journal) => journal.untrack(ONE),
    (journal) => journal.untrack(ONE),
    observe({ status: 'STOPPED' }),
    read,
    find,
    add('track'),
  ],
  'what is read before and after a change': [
    async (journal) => {
      await journal.add(ONE, 'track', MADE);
      await journal.read();
      await journal.add(ONE, 'track', { ...MADE, status: 'STOPPED' });
      await journal.observe(MADE);
      return (await journal.instance(ONE)).kind;
    },
    find,
    (journal) => journal.observeStatus(ONE, 'ACTIVE'),
    (journal) => journal.observeStatus(TWO, 'STARTING'),
    (journal) => journal.instance(TWO),
    (journal) => journal.instance('nobody'),
  ],
  deadlines: [
    observe(),
    (journal) => journal.ends(ONE),
    expire({ deadline: ENDS.deadline }),
    expire({ if_idle: RULE }),
    deadlines,
    expire({ rescue: RESCUE }),
    deadlines,
    expire({}),
    deadlines,
    (journal) => journal.ends(ONE),
    find,
  ],
  'the use of an instance': [
    add('track', {}),
    expire(ENDS),
    (journal) => journal.withIdle(ONE, RULE, ({ found, write }) => write({ ...USED, ...found })),
    find,
    (journal) => journal.withIdle(ONE, RULE, async ({ found }) => found),
    (journal) => journal.withIdle(ONE, { ...RULE, uid: 'rule-2' }, async (held) => held.found),
    (journal) => journal.withIdle(ONE, RULE, () => journal.withIdle(ONE, RULE, async () => 'both')),
    put(`idle/${ONE}.json`, { version: 1, id: TWO, rule: RULE.uid, ...USED }),
    (journal) => journal.withIdle(ONE, RULE, async ({ found }) => found ?? 'of another'),
  ],
  'the progress of a rescue': [
    add('track', {}),
    expire(ENDS),
    (journal) =>
      journal.withRescue(ONE, RESCUE, ({ write }) =>
        write({ due: { at: ENDS.deadline, by: 'deadline' }, paths: [], failing: null }),
      ),
    find,
    (journal) => journal.withRescue(ONE, RESCUE, async ({ found }) => found?.due),
    (journal) => journal.withRescue(TWO, RESCUE, async ({ found }) => found ?? 'none'),
    (journal, { state }) =>
      journal.withRescue(ONE, RESCUE, async () => {
        // As the library does every two seconds.
        const began = performance.now();
        let time = Date.now() / 1000;
        const refresh = () => utimesSync(join(state, 'rescues', `${ONE}.json.lock`), time, ++time);
        const timer = setInterval(refresh, 5);
        const both = await journal.withRescue(ONE, RESCUE, async () => 'both');
        clearInterval(timer);
        return [both ?? 'held by another', performance.now() - began > 9_000 ? 'late' : 'at once'];
      }),
    expire({ ...ENDS, rescue: { ...RESCUE, uid: 's' } }),
    find,
  ],
  'a request that becomes an instance': [
    open({ deadline: ENDS.deadline, if_idle: 600_000, rescue: RESCUE }),
    open(),
    read,
    later(1),
    settle(),
    read,
    deadlines,
  ],
  'a request whose deadline is declined': [open({ if_idle: 600_000 }), settle(false), find],
  'a request for an instance that is known': [
    add('track', {}),
    expire({ deadline: '2026-01-15T20:00:00.000Z' }),
    open({ deadline: ENDS.deadline, session: { id: 's', call: 1, price: '9', hours: 2 } }),
    settle(true),
    find,
  ],
  'a request without an outcome': [
    async (journal) => {
      const made = await journal.open(RENTAL, new Set());
      await made?.unknown();
      return made?.doubt(ONE, 'box');
    },
    async (journal) => {
      const [request] = await journal.requests();
      const again = await journal.open(RENTAL, new Set([request?.uid ?? '']));
      await again?.keepDoubted(ONE);
      await again?.notMade();
    },
    read,
    async (journal) => journal.forget((await journal.requests())[0]?.uid ?? ''),
    read,
  ],
  'files of others': [
    put('requests/%54rainer.text', 'of another program'),
    put('requests/trainer~x.text', 'of another program'),
    open(),
    put(`instances/${TWO}.json`, '{'),
    put('requests/odd.json', '{'),
    put(`deadlines/${TWO}.json`, { version: 1, id: ONE, name: 'box', deadline: null }),
    read,
    (journal) => journal.instance(TWO),
    (journal) => journal.observeStatus(TWO, 'ACTIVE'),
    deadlines,
  ],
  heartbeats: [
    (_journal, { state }) => writeHeartbeat(state, 'work', HEARTBEAT),
    (_journal, { state }) => writeHeartbeat(state, 'my lab', { ...HEARTBEAT, account: null }),
    (_journal, { state }) => heartbeatOf(state, 'my lab'),
    (_journal, { state }) => heartbeatOf(state, 'home'),
    put('../../../reap/odd.json', '{'),
    (_journal, { state }) => heartbeatsIn(state),
    (_journal, { state }) => removeHeartbeat(state, 'my lab'),
    (_journal, { state }) => removeHeartbeat(state, 'home'),
    (_journal, { state }) => heartbeatsIn(join(state, 'nothing')),
    put('../../../reap/work.json', { ...HEARTBEAT, version: 2 }),
    (_journal, { state }) => heartbeatOf(state, 'work'),
    (_journal, { state }) => heartbeatsIn(state),
  ],
  'an instance whose folder is a file': [
    expire({ deadline: ENDS.deadline }),
    put('instances', 'of another program'),
    deadlines,
    find,
  ],
  'each kind of event': [
    async (journal) => {
      for (const event of EVENTS) {
        await journal.sendEvent({ ...EVENT, key: event, event }, async () => false);
      }
      return (await journal.unsentEvents()).map(({ event }) => event);
    },
    put('events/odd.json', { ...EVENT, event: 'odd' }),
    async (journal) => (await journal.unsentEvents()).length,
  ],
  events: [
    (journal) => journal.sendEvent(EVENT, async () => false),
    (journal) => journal.sendEvent({ ...EVENT, key: 'other' }, async () => true),
    (journal) => journal.unsentEvents(),
    put('events/odd.json', '{'),
    (journal) => journal.unsentEvents(),
    later(40 * 24 * 60),
    put('events/newer.json', { ...EVENT, version: 2 }),
    (journal) => journal.unsentEvents(),
    (journal) => journal.sendEvent({ ...EVENT, key: 'newer' }, async () => true),
  ],
};

test.each(Object.entries(STORIES))(
  'returns, warns and stores in each step: %s',
  async (...[, steps]) => {
    const state = await temporaryFolder();
    const clock = manualClock();
    const put = (file: string, content: unknown) => {
      const path = join(state, 'journal', '@sandbox', 'user-1', file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    };
    const lines: string[] = [];
    for (const step of steps) {
      const before = storedIn(state);
      const warn = (text: string) => void lines.push(`! ${text}`);
      const own = journalIn(state, { clock, warn });
      const shown = async () => JSON.stringify(await step(own, { state, clock, put }));
      const result = await shown().catch(({ failure, message }) => `${failure}: ${message}`);
      const stored = storedLines(before, storedIn(state)).sort();
      lines.push(`${result ?? ''}`, ...stored.map((line) => `  ${line}`));
    }
    const text = lines.join('\n').replaceAll(state, 'STATE');
    expect(`\n${numbered(text)}\n`).toMatchSnapshot();
  },
);
