import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { moneyRows, printCommand, type Wish } from '../../src/instances/ask/summary.ts';
import {
  type CheckedEnds,
  type DeadlineFlags,
  deadlineWords,
  earlyFor,
  laterDeadline,
  noteNewEnds,
  onItsDay,
  plannedDeadline,
  wantedDeadline,
  wantedText,
} from '../../src/instances/deadlines/deadline.ts';
import type { MadeRequest } from '../../src/instances/rent/body.ts';
import { money } from '../../src/rules/money.ts';

const NOW = new Date(2026, 0, 15, 12).getTime();
const [MINUTE, HOUR] = [60_000, 3_600_000];
const notes: string[] = [];
const context = {
  clock: { now: () => NOW },
  serviceClock: { now: () => NOW },
  err: { note: (text: string) => notes.push(text) },
  host: { stderr: { columns: 200 } },
  flags: { profile: 'work', baseUrl: 'https://api.example.com' },
} as unknown as Context;

const roubles = (text: string) => {
  const found = money(text);
  if (!found.ok) throw new Error(text);
  return found.value;
};
/** Removes local times, which depend on the time zone. */
const plain = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d \S\d\d:\d\d/g, 'TIME');

const FLAGS: Readonly<Record<string, DeadlineFlags>> = {
  none: {},
  after: { terminateAfter: 4 * HOUR },
  time: { terminateAt: NOW + HOUR },
  today: { terminateAt: { hour: 18, minute: 5 } },
  tomorrow: { terminateAt: { hour: 11, minute: 59 } },
  thursday: { terminateAt: { hour: 9, minute: 0, weekday: 4 } },
  friday: { terminateAt: { hour: 9, minute: 0, weekday: 5 } },
  idle: { ifIdle: 45 * MINUTE },
  'no rescue': { terminateAfter: HOUR, rescue: ['none'] },
  all: {
    ...{ terminateAfter: 90 * MINUTE, ifIdle: HOUR, rescue: ['a', 'b:c'] },
    ...{ rescueBudget: roubles('9.5'), unenforced: true },
  },
};

test.each(Object.entries(FLAGS))('describes the deadline flags of %s', (_what, flags) => {
  const wanted = wantedDeadline(flags);
  const later = laterDeadline(wanted, NOW)?.text;
  const { deadline, ...rest } = plannedDeadline(flags, context);
  const inHours = deadline && (Date.parse(deadline) - NOW) / HOUR;
  notes.length = 0;
  const rescue = { uid: 'r', paths: [{ remote: 'a', local: '/a' }], budget: null, early: 1 };
  noteNewEnds(['x'], { ...(deadline && { deadline }), ...rest }, context);
  noteNewEnds(['x', 'y'], { ...(deadline && { deadline }), ...rest }, context);
  noteNewEnds(['z'], { rescue }, context);
  const text = wantedText(flags);
  const words = typeof flags.terminateAt === 'number' ? undefined : deadlineWords(flags);
  const texts = [text, later, ...notes].map((one) => one && plain(one));
  expect({ inHours, rest, words, texts }).toMatchSnapshot();
});

test('refuses two deadlines, one that has passed, and one after more than 366 days', () => {
  const error = (flags: DeadlineFlags) => () => plannedDeadline(flags, context);
  const year = 366 * 24 * HOUR;
  expect(error({ terminateAfter: 1, terminateAt: NOW })).toThrow(
    "--terminate-after and --terminate-at can't be combined",
  );
  expect(error({ terminateAt: NOW })).toThrow(/^the deadline .* has passed: the service's time is/);
  expect(error({ terminateAfter: year + 1 })).toThrow('a deadline must be at most 366 days');
  const deadline = new Date(NOW + year).toISOString();
  expect(plannedDeadline({ terminateAfter: year }, context)).toEqual({ deadline });
});

test.each([
  [undefined, 2],
  [19.9, 2],
  [20, 2],
  [100, 10],
  [150, 15],
  [151, 15],
])('begins to copy before a deadline in %s min: %i min', (left, early) => {
  const deadline = left === undefined ? left : new Date(NOW + left * MINUTE).toISOString();
  expect(earlyFor(deadline, NOW)).toBe(early * MINUTE);
});

/** Prints the command line and the rows about money, for the questions of `create`. */
function summary(flags: object, ends: CheckedEnds, more: Partial<Wish>, price?: string) {
  const printed: string[] = [];
  const end = () => [['--wait']];
  const command = { start: (name?: string) => ['instances', 'create', name ?? ''], end };
  const wish = { ends, command, maxPrice: undefined, ...more } as unknown as Wish;
  const prompts = { print: (line: string) => printed.push(line) };
  printCommand({ name: 'trainer', ...flags }, wish, prompts as never, context);
  const known = price === undefined ? undefined : { price_per_hour: price, sources: [] };
  const offer = { id: 'o', name: 'RTX 4090', known };
  const made = { offer, offers: [offer] } as unknown as MadeRequest;
  const rows = moneyRows(made, wish, '20', context);
  return [...rows.map(({ label, text }) => `${label}: ${plain(text)}`), ...printed];
}

test('prints a request with every flag', () => {
  const port = { external_port: 80, internal_port: 8080, protocol: 'TCP' };
  const flags = {
    ...{ file: 'box.yaml', offer: ['o-1', 'o-2'], retryFor: HOUR, image: 'i', sshKey: ['k', '-l'] },
    ...{ template: 't', drive: 'd', dockerImage: 'img', dockerCommand: '-c', shmSize: 64 },
    port: [port, { ...port, protocol: 'UDP', name: 'web', is_main: true }],
    ...{ envFile: ['e'], env: ['A=secret', 'A=2', 'B'], anyEnvKey: true },
    volume: [{ host_path: '/h', container_path: '/c' }],
  };
  const many = { maxPrice: roubles('12.30'), count: 3, copyOut: 'out to ./out' };
  expect(summary(flags, FLAGS.all ?? {}, many, '9.50')).toMatchSnapshot();
  expect(summary({ sshKey: [] }, FLAGS.today ?? {}, {}, '20.01')).toMatchSnapshot();
  expect(summary({}, {}, { maxPrice: roubles('1') })).toMatchSnapshot();
  expect(summary({}, FLAGS.tomorrow ?? {}, {}, '20.00')).toMatchSnapshot();
});

test('fixes the day of a time of day only while --retry-for waits', async () => {
  const at = { terminateAt: { hour: 18, minute: 5 } } as CheckedEnds;
  const service = (time: number) =>
    ({
      serviceClock: {
        ...{ isExact: () => true, isKnown: () => true, now: () => time, set: () => undefined },
      },
      sandbox: async () => ({ status: async () => ({ now: '2026-01-15T12:00:00Z' }) }),
    }) as unknown as Context;
  const days = [[undefined, NOW] as const, [HOUR, NOW] as const, [HOUR, NOW + 12 * HOUR] as const];
  const found = await Promise.all(
    days.map(([retryFor, time]) => onItsDay(at, retryFor, service(time))),
  );
  const evening = new Date(2026, 0, 15, 18, 5).getTime();
  expect(found).toEqual([at, { terminateAt: evening }, { terminateAt: evening + 24 * HOUR }]);
  expect(await onItsDay({} as CheckedEnds, HOUR, service(NOW))).toEqual({});
});
