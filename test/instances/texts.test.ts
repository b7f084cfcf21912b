import { expect, test } from 'vitest';
import type { Context, Session } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { accountLeft } from '../../src/instances/accounts.ts';
import { keyChooser } from '../../src/instances/ask/keys.ts';
import { printRows } from '../../src/instances/ask/summary.ts';
import { idleText } from '../../src/instances/deadlines/idle-time.ts';
import { notifyOfReaped } from '../../src/instances/deadlines/notify.ts';
import { endedRow } from '../../src/instances/deadlines/reap.ts';
import { rescueState } from '../../src/instances/deadlines/rescued.ts';
import { openAlone, otherSettled } from '../../src/instances/recover/pending.ts';
import { payingAccount } from '../../src/instances/rent/account.ts';
import { checkGiven, makeRequest } from '../../src/instances/rent/body.ts';
import { exceededBy, guardOf } from '../../src/instances/rent/guards.ts';
import { findHardware, warnIfDearer } from '../../src/instances/rent/hardware.ts';
import { reorderNote, reservationNote } from '../../src/instances/rent/preflight.ts';
import { markOf, purseGuard } from '../../src/instances/rent/purse.ts';
import { beginningWithYes, pickInstances } from '../../src/instances/resolve.ts';
import { crontab } from '../../src/instances/scheduler/crontab.ts';
import { mustRun, runTool } from '../../src/instances/scheduler/tool.ts';
import { money, zero } from '../../src/rules/money.ts';
import type { Start } from '../../src/system/programs.ts';

const NOW = Date.parse('2026-01-15T12:00:00Z');
type Hear = (text: string, from: string) => void;
const ID = '3f0c5d9e-1111-4222-8333-444455556666';

/** A computer that knows these instances as last seen, as the service shows them now. */
function computer(instances: Readonly<Record<string, object | undefined>> = {}, more: object = {}) {
  const said: unknown[] = [];
  const known = Object.entries(instances).map(([id, last]) => ({ id, name: `the ${id}`, last }));
  const get = async (id: string) => {
    if (instances[id] === undefined) throw new CliError('notFound', `${id} is not there`);
    return { id, ...instances[id] };
  };
  /** Leaves out the mark of a command and the local time, which depends on the time zone. */
  const print = (text: string) =>
    void said.push(text.replace(/\p{Cn}|(?<= at )[-\d]{10} [\d:]{5} \S{6}/gu, ''));
  const chooseSeveral = async (question: string, choices: readonly { value: unknown }[]) => {
    said.push(question, ...choices);
    return choices.map(({ value }) => value);
  };
  const prompts = { print, chooseSeveral, choose: async () => async () => undefined };
  const context = {
    ...{ clock: { now: () => NOW }, serviceClock: { now: () => NOW }, flags: {}, env: {} },
    ...{ host: { stderr: {} }, signal: new AbortController().signal },
    err: { note: print, warn: (code: string, text: string) => print(`${code}: ${text}`) },
    api: async () => ({ instances: { get } }),
    catalog: async () => ({ known: async () => [{ kind: 'offer', id: 'o', name: null }] }),
    journal: async () => ({ read: async () => ({ instances: known }) }),
    journalOf: async () => ({ read: async () => ({ instances: [], unknown: known }) }),
    settings: async () => ({ sandbox: false, baseUrl: { value: 'https://api.example.com' } }),
    prompts: async () => prompts,
    ...more,
  } as unknown as Context;
  const failed = (error: CliError) => print(`${error.message} | ${error.hint}`);
  return { said, context, prompts: prompts as never, failed };
}
const ALONE = { prompts: async () => undefined };

test.each<[string, Parameters<typeof keyChooser>[0]['flags'], object, readonly object[]]>([
  ['without a key', {}, {}, []],
  ['with nameless keys', {}, {}, [{ id: 'k1', name: null }, { id: 'k2' }]],
  ['for a template without a key', { template: 't' }, {}, []],
  ['for a container with keys', { dockerImage: 'i' }, {}, [{ id: 'k1' }, { id: 'k2' }]],
  ['with the file in stdin', { file: '-' }, {}, [{ id: 'k1' }, { id: 'k2' }]],
  ['for a job', {}, { isJob: true }, [{ id: 'k1' }, { id: 'k2' }]],
  ['for a job without a key', {}, { isJob: true, dryRun: true }, []],
  ['to wait for ssh', { template: 't' }, { until: 'ssh', dryRun: true }, []],
])('chooses the SSH keys %s', async (_what, flags, need, keys) => {
  const shown = await Promise.all(
    [{}, ALONE].map(async (more) => {
      const { said, context, failed } = computer({}, more);
      const wish = { isJob: false, hasIdentity: false, until: undefined, dryRun: false };
      const chosen = await keyChooser(
        { ...wish, flags, ...need },
        context,
      )(keys as never).catch(failed);
      return { chosen, said };
    }),
  );
  expect(shown).toMatchSnapshot();
});

const STOPPED = { status: 'STOPPED', price_per_hour_snapshot: '9.50' };
test.each([
  ['one', { a: STOPPED }],
  ['one without a price', { a: { status: 'STOPPED' } }],
  ['two without a price', { a: { status: 'STOPPED' }, b: undefined }],
  ['three, one without a price', { a: STOPPED, b: { status: 'STOPPED' }, c: STOPPED }],
  ['one that runs', { a: { status: 'ACTIVE' } }],
])('notes what a start of %s reserves', async (_what, instances) => {
  const { said, context } = computer(instances);
  const targets = Object.keys(instances).map((id) => ({ id, name: `the ${id}` }));
  await reservationNote(targets, context);
  expect(said).toMatchSnapshot();
});

test.each([
  ['everything', { ...STOPPED, docker_config: { image: 'u:p@r/i' }, storage_drive: { name: 'd' } }],
  ['nothing', { application_template: {}, docker_config: {} }],
  ['a template', { application_template: { name: 't' }, price_per_hour_snapshot: '0' }],
])('notes what a reorder of an instance with %s may lack', async (_what, old) => {
  const { said, context } = computer({ a: old });
  said.push(await reorderNote({ id: 'a', name: 'a' }, true, context));
  said.push(await reorderNote({ id: 'b', name: 'b' }, true, context));
  expect(said).toMatchSnapshot();
});

test('offers the living instances, newest first, or refuses if there are none', async () => {
  const at = (hour: number) => `2026-01-15T0${hour}:00:00Z`;
  const last = { status: 'ACTIVE', seen_at: at(9), created_at: at(7) };
  const instances = {
    [ID]: { ...last, price_per_hour_snapshot: '89.9' },
    fresh: { ...last, created_at: at(8) },
    ended: { ...last, status: 'TERMINATED' },
    unseen: undefined,
  };
  const some = computer(instances);
  expect(await pickInstances('Which?', some.context)).toMatchSnapshot();
  const none = computer({ ended: instances.ended });
  await pickInstances('Which?', none.context).catch(none.failed);
  const script = computer(instances, ALONE);
  await pickInstances('Which?', script.context).catch(script.failed);
  expect([some.said, none.said, script.said]).toMatchSnapshot();
});

test('says what is missing, and which text is no offer', async () => {
  const { said, context, failed } = computer();
  const given = { from: (flag: string) => `--${flag}` };
  const whole = { name: 'box', offer: ['o'], image: 'i' };
  for (const flags of [
    ...[{}, { name: 'x', offer: ['o'] }, { offer: ['o'], image: 'i' }],
    ...[{ sshKey: ['k', ''] }, { template: '' }, { drive: '' }].map((more) => ({
      ...{ ...whole, ...more },
    })),
  ]) {
    await makeRequest({ ...given, flags } as never, context).catch(failed);
  }
  for (const flags of [{ shmSize: 8 }, { template: '' }]) {
    await checkGiven({ ...given, flags } as never, context).catch(failed);
  }
  await findHardware('image', 'a b', '--image', context).catch(failed);
  await findHardware('offer', 'a b', '--offer', context).catch(failed);
  const known = { price_per_hour: '10' } as never;
  for (const price of ['10', '10.01', 'x']) {
    const instance = { id: 'i', status: 'ACTIVE', price_per_hour_snapshot: price };
    for (const name of [null, 'n'])
      warnIfDearer({ ...instance, name }, { id: 'o', known }, context);
  }
  for (const name of ['box', 'a b', ID]) failed(beginningWithYes('3f0c', { id: ID, name }));
  expect(said).toMatchSnapshot();
});

test('marks the request of a session, if its cost has a limit', () => {
  const { said, context, failed } = computer();
  const session = { id: 's', call: 2, endsAt: NOW + 3_600_000 } as Session;
  for (const [deadline, price] of [
    [undefined, '9.50'],
    [new Date(session.endsAt + 1).toISOString(), '9.50'],
    [new Date(session.endsAt).toISOString(), null],
    [new Date(session.endsAt).toISOString(), '9.50'],
  ] as const) {
    try {
      said.push(markOf({ name: 'box', deadline }, price, session, context));
    } catch (error) {
      failed(error as CliError);
    }
  }
  expect(said).toMatchSnapshot();
});

const ROW = { id: 'i', name: 'box', deadline: null, overdue_seconds: 5 } as const;
test.each([
  ['an interrupt', new CliError('interrupted', 'Interrupted.')],
  ['a failure', new CliError('storage', 'no space')],
  ['a failure that names it', new CliError('storage', 'no space for box')],
])('%s before a termination by a deadline', async (_what, error) => {
  const row = { ...ROW, reason: 'deadline', exit_code: null } as const;
  const ended = await endedRow(row, () => Promise.reject(error));
  const { message, resource } = ended?.error ?? {};
  expect({ ...ended, error: { message, resource } }).toMatchSnapshot();
});

test.each([
  ['the same account', 'https://a', { id: 'u', email: 'ann@example.com' }],
  ['another account', 'https://a', { id: 'v', email: null, name: 'Ann' }],
  ['another service', 'https://b', { id: 'u' }],
  ['an unknown account', 'https://b', undefined],
])('leaves nothing for, or asks about, %s', async (_what, service, account) => {
  const profile = { base_url: 'https://a', api_key: 'k', account };
  const left = (more: object) => {
    const { context } = computer({ box: undefined });
    const file = { profiles: { p: profile, ...more } } as never;
    return accountLeft('p', file, { service, account: 'u' }, context);
  };
  const keyless = { base_url: 'https://a' };
  expect([await left({ q: keyless }), await left({ q: profile })]).toMatchSnapshot();
  expect([await left({ p: keyless }), await left({ p: undefined })]).toEqual([
    undefined,
    undefined,
  ]);
});

test('shows an idle time, a rescue and a narrow summary', () => {
  const path = (remote: string, copied_at: string | null) => ({ remote, copied_at }) as never;
  const rescues = [[], [path('a', null)], [path('a', 't'), path('b', null)], [path('a', 't')]];
  const states = rescues.flatMap((rescue) =>
    [null, 'full'].map((rescue_failing) => rescueState({ rescue, rescue_failing })),
  );
  const idle = [undefined, null, 0, 1].map((idle_seconds) =>
    idleText({ if_idle_seconds: 2700, idle_seconds }),
  );
  const { said, prompts, context } = computer();
  printRows([{ label: 'Offer', text: 'word '.repeat(30) }], prompts, context);
  expect({ states, idle: [...idle, idleText({ idle_seconds: 5 })], said }).toMatchSnapshot();
});

test('says how the program of a scheduler failed', async () => {
  const { said, failed } = computer();
  const starting = (ended: Promise<number>, text = ''): Start =>
    (async ({ hear }: { hear: Hear }) => {
      hear(text, 'stderr');
      return { ended };
    }) as never;
  const error = (code?: string) => Object.assign(new Error('x'), code && { code });
  for (const start of [
    starting(Promise.resolve(0), 'note'),
    starting(Promise.resolve(2)),
    starting(Promise.resolve(2), 'no bus\n'),
    starting(Promise.reject(error('ENOENT'))),
    starting(Promise.reject(error('EACCES'))),
    starting(Promise.reject(error())),
  ]) {
    said.push(await runTool(start, ['tool', 'a']).catch(failed));
    said.push(await mustRun(start, ['tool', 'a']).catch(failed));
  }
  expect(said).toMatchSnapshot();
});

test('writes no crontab to remove a line that is not there', async () => {
  const { said } = computer();
  const start = (async ({ args, say, hear }: { args: string[]; say?: string; hear: Hear }) => {
    said.push([...args, say]);
    hear('0 0 * * * x # other\n', 'stdout');
    return { ended: Promise.resolve(0) };
  }) as never;
  for (const name of ['absent', 'other']) await crontab({ start }).uninstall(name);
  expect(said).toEqual([
    ['-l', undefined],
    ['-l', undefined],
    ['-', ''],
  ]);
});

type Settings = { sandbox?: boolean; profile?: string; key?: string };
const NAMED = { id: 'u', email: 'ann@example.com', name: 'Ann' };
test.each([
  [{ sandbox: true, profile: 'sandbox' }, 'the sandbox, which costs nothing (profile sandbox)'],
  [{ profile: 'a' }, 'ann@example.com (profile a)'],
  [{ profile: 'b' }, 'Bob (profile b)'],
  [{ profile: 'c' }, 'v (profile c)'],
  [{ profile: 'd' }, 'https://d (profile d)'],
  [{ profile: 'a', key: 'environment' }, 'the one of GPUCLOUD_API_KEY'],
  [{}, undefined],
])('with %j, %s pays', async (given, who) => {
  const { sandbox = false, profile, key }: Settings = given;
  const accounts = { a: NAMED, b: { id: 'u', name: 'Bob' }, c: { id: 'v' }, d: undefined };
  const profiles = Object.fromEntries(
    Object.entries(accounts).map(([name, account]) => [
      name,
      { base_url: `https://${name}`, account },
    ]),
  );
  const settings = { sandbox, profile: profile && { value: profile }, apiKey: { source: key } };
  const { context } = computer(
    {},
    { profiles: async () => ({ profiles }), settings: async () => settings },
  );
  expect(await payingAccount(context)).toBe(who);
});

/** A journal in which these requests are open at each look. */
function racing(requests: readonly (readonly object[])[], more: object = {}) {
  const left = [...requests];
  const journal = {
    ...{ account: async () => 'u', isKeyKnown: async () => true },
    ...{ read: async () => ({ instances: [] }), open: async () => undefined },
    requests: async () => left.shift() ?? [],
  };
  const confirm = async (question: string) => rig.said.push(question) > 0;
  const progress = (text: string) => rig.said.push(text) && { done: () => rig.said.push('done') };
  const rig = computer({}, { journal: async () => journal, ...more });
  const { err, clock } = rig.context;
  const sleep = async (time: number) => rig.said.push(time);
  return {
    ...rig,
    context: {
      ...rig.context,
      ...{ prompts: async () => ({ confirm }), settings: async () => ({ sandbox: true }) },
      ...{ err: { ...err, progress }, clock: { ...clock, sleep } },
    } as never,
  };
}
const BOX = { name: 'Box', asked_at: '2026-01-15T11:00:00Z', uid: 'r1', isInFlight: false };

test('gives up a name that other processes take again and again', async () => {
  const { said, context, failed } = racing([[BOX], [BOX, { ...BOX, uid: 'r2', asked_at: 'x' }]]);
  await openAlone({ name: 'box' } as never, context).catch(failed);
  expect(said).toMatchSnapshot();
});

test('waits until no other process creates an instance with the name', async () => {
  const flying = { ...BOX, isInFlight: true };
  const { said, context } = racing([[flying], [flying], [{ ...flying, name: 'other' }, BOX]]);
  await otherSettled('box', context);
  await otherSettled('box', context);
  expect(said).toMatchSnapshot();
});

const PRICED = { ...STOPPED, status: 'ACTIVE' };
const limited = (guards: object, instances: object, more: object = {}) =>
  computer(instances as never, {
    // Reads no key, which might ask for a password.
    settings: async (how: object) => {
      expect(how).toEqual({ key: false });
      return { sandbox: false, profile: { value: 'work' } };
    },
    config: async () => ({ read: async () => ({ profiles: { work: { guards } } }) }),
    priceChecks: { pending: new Set() },
    ...more,
  });
const journalOf = async ({ journal }: Context) => {
  const { read } = (await journal()) as { read(): Promise<object> };
  const both = async () => ({ unknown: [], inFlight: [], ...(await read()) });
  return { read: both, instance: async () => ({ kind: 'none' }) } as never;
};

test.each([
  ['too many', { max_instances: 1 }, { a: PRICED }],
  ['none allowed', { max_instances: 0 }, {}],
  ['an unknown price of another', { max_burn: '20' }, { a: { status: 'ACTIVE' } }],
  ['too dear', { max_burn: '18.99' }, { a: PRICED }],
  ['the limit itself', { max_burn: '19' }, { a: PRICED }],
  ['no limit', {}, { a: PRICED }],
])('judges the guards of a profile before and after a request: %s', async (_what, guards, all) => {
  const { said, context, failed } = limited(guards, all);
  const journal = await journalOf(context);
  const own = { ...context, journal: async () => journal } as Context;
  const request = { operation: 'create', name: 'b', offer_id: 'o', max_price: '9.50' } as const;
  const check = await guardOf([request], async () => journal, own);
  await check?.().catch(failed);
  for (const price of ['9.50', 'Infinity', null, '100']) {
    said.push(await exceededBy({ id: 'b', price_per_hour_snapshot: price }, own));
  }
  const session = { id: 's', maxInstances: 0, maxCost: zero(), endsAt: NOW } as unknown as Session;
  for (const maxInstances of [0, 1, 2]) {
    const host = { session: { ...session, maxInstances } };
    const purse = await purseGuard([request, request], async () => journal, {
      ...own,
      host,
    } as never);
    await purse?.().catch(failed);
  }
  expect(said).toMatchSnapshot();
});

const mark = (price: string, hours: number) => ({ session: { id: 's', call: 1, price, hours } });

/** What a session may spend, how many instances it may have, and the rescue of its last request. */
test.each([
  ['82.5', 4, '10'],
  ['82.49', 4, '10'],
  ['72.5', 4, null],
  ['72.49', 4, null],
  ['63', 4, undefined],
  ['62.99', 4, undefined],
  ['99', 3, undefined],
  ['99', undefined, undefined],
])(
  'with %s to spend and %j instances, judges requests with the rescue %j',
  async (most, maxInstances, budget) => {
    const created_at = new Date(NOW - 90 * 60_000).toISOString();
    const over = { status: 'TERMINATED', created_at, terminated_at: new Date(NOW).toISOString() };
    const five = { name: 'lives', ...mark('5', 3) };
    const known = [
      { ...five, id: 'a', last: { status: 'ACTIVE' } },
      { ...five, id: 'b', request: 'u1', last: { ...over, price_per_hour_snapshot: '4' } },
      { id: 'c', name: 'other', session: { ...five.session, id: 't' }, last: { status: 'ACTIVE' } },
    ];
    const journal = {
      read: async () => ({
        instances: known,
        unknown: [
          { ...five, uid: 'u1' },
          { ...mark('1', 2), name: 'lost', uid: 'u2' },
        ],
        inFlight: [{ ...five, uid: 'own' }],
      }),
      instance: async () => ({ kind: 'none' }),
    };
    const { said, context, failed } = computer({ a: { status: 'ACTIVE' } });
    const verdict = money(most);
    const maxCost = verdict.ok ? verdict.value : zero();
    const host = { session: { id: 's', maxCost, maxInstances, endsAt: NOW } };
    const own = { ...context, host, journal: async () => journal } as never;
    const rescue = budget === undefined ? {} : { rescue: { budget } };
    const requests = [
      { name: 'box', ...mark('9.50', 2) },
      { name: 'lab', ...mark('9.50', 2), ...rescue },
    ];
    const check = await purseGuard(requests as never, async () => journal as never, own);
    await check?.('own').catch(failed);
    expect(said).toMatchSnapshot();
  },
);

test('notifies of each instance and each request that a pass ended, or failed to end', async () => {
  const { said, context } = computer();
  const stored: object[] = [];
  const journal = {
    account: async () => 'u',
    sendEvent: async (event: object) => void stored.push(event),
    unsentEvents: async () => [{ key: 'earlier' }, stored[0]],
  };
  const own = {
    ...context,
    ...{ clock: { now: () => NOW }, journal: async () => journal },
    shielded: (work: (own: object) => Promise<void>) => work(own),
    settings: async () => ({ sandbox: false, profile: { value: 'work' } }),
    config: async () => ({ read: async () => ({ profiles: { work: { notify: ['tell'] } } }) }),
  };
  const row = (id: string | null, name: string, outcome: string, reason = 'deadline') =>
    ({ id, name, outcome, reason, deadline: 'D', overdue_seconds: 1, exit_code: null }) as const;
  const rows = [
    ...[row('i', 'a', 'terminated'), row('i', 'a', 'terminated', 'idle'), row('j', 'b', 'refused')],
    ...[row(null, 'c', 'unknown'), row(null, 'd', 'unknown'), row('k', 'e', 'other')],
  ];
  const errors = ['j', 'c', 'd'].map(
    (resource) => new CliError('refused', `No ${resource}.`, { resource }),
  );
  await notifyOfReaped({ rows, errors } as never, own as never);
  expect({ said, stored }).toMatchSnapshot();
  stored.length = 0;
  const ended = { ...own, signal: AbortSignal.abort() };
  await notifyOfReaped({ rows, errors } as never, ended as never);
  expect(stored.map((event) => Reflect.get(event, 'key'))).toMatchSnapshot();
});
