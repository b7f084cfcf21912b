import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { CliError } from '../../../src/errors.ts';
import { notCopied } from '../../../src/instances/deadlines/rescued.ts';
import { type RescuedPath, replaced } from '../../../src/jobs/rescue/copy.ts';
import { nextStep, paidTime, type Situation } from '../../../src/jobs/rescue/state.ts';
import { toRescue, withRescue } from '../../../src/jobs/rescue/wanted.ts';
import {
  keptError,
  lostError,
  oldText,
  rescuedText,
  warnOfChanging,
} from '../../../src/jobs/rescue/words.ts';
import { priceIn } from '../../../src/rules/money.ts';
import { ODD, ofOddName } from '../odd-name.ts';

const MINUTE = 60_000;

/** Minutes; the deadline is at 100, and copying begins 10 minutes earlier. */
const USUAL: Situation = {
  now: 0,
  deadline: 100,
  due: undefined,
  early: 10,
  paid: 60,
  every: 5,
  copied: 'not yet',
};

describe('what happens next to an instance with --rescue', () => {
  test.each([
    // Before the deadline.
    [{ now: 0 }, 'wait'],
    [{ now: 84 }, 'wait'],
    [{ now: 85 }, 'copy'],
    [{ now: 99 }, 'copy'],
    [{ now: 90, copied: 'early' }, 'wait'],
    [{ now: 90, copied: 'partly' }, 'copy'],
    [{ now: 90, copied: 'failed' }, 'wait'],
    [{ now: 90, copied: 'whole' }, 'wait'],
    // Without a budget, the last pass before the deadline copies what has changed.
    [{ now: 94, paid: 0, copied: 'early' }, 'wait'],
    [{ now: 95, paid: 0, copied: 'early' }, 'copy'],
    [{ now: 95, paid: 0, copied: 'copied' }, 'wait'],
    [{ now: 95, paid: 0, copied: 'failed' }, 'wait'],
    [{ now: 95, copied: 'early' }, 'wait'],
    // Only an idle rule.
    [{ now: 90, deadline: undefined }, 'wait'],
    [{ now: 90, deadline: undefined, due: 90 }, 'copy'],
    // Due.
    [{ now: 100, due: 100 }, 'copy'],
    [{ now: 100, due: 100, copied: 'early' }, 'copy'],
    [{ now: 100, due: 100, copied: 'whole' }, 'end'],
    [{ now: 100, due: 100, copied: 'failed' }, 'keep'],
    [{ now: 154, due: 100, copied: 'failed' }, 'keep'],
    [{ now: 155, due: 100, copied: 'failed' }, 'retry'],
    [{ now: 160, due: 100, copied: 'failed' }, 'give up'],
    [{ now: 155, due: 100, copied: 'again' }, 'copy'],
    [{ now: 160, due: 100, copied: 'again' }, 'give up'],
    [{ now: 160, due: 100, copied: 'whole' }, 'end'],
    // This computer slept: the budget counts from the first pass.
    [{ now: 400, due: 400 }, 'copy'],
    // It slept again, longer than the budget: one try.
    [{ now: 400, due: 100, copied: 'not yet' }, 'copy'],
    [{ now: 400, due: 100, copied: 'early' }, 'copy'],
    [{ now: 400, due: 100, copied: 'partly' }, 'copy'],
    [{ now: 400, due: 100, copied: 'failed' }, 'give up'],
    [{ now: 400, due: 100, copied: 'whole' }, 'end'],
    // Without a budget, the tries before the deadline count, or else one try.
    [{ now: 100, due: 100, paid: 0 }, 'copy'],
    [{ now: 100, due: 100, paid: 0, copied: 'early' }, 'give up'],
    [{ now: 100, due: 100, paid: 0, copied: 'copied' }, 'give up'],
    [{ now: 100, due: 100, paid: 0, copied: 'partly' }, 'give up'],
    [{ now: 100, due: 100, paid: 0, copied: 'failed' }, 'give up'],
    // `run` and `mcp` end an instance before its deadline.
    [{ now: 95, due: 95, paid: 0 }, 'copy'],
    [{ now: 95, due: 95, paid: 0, copied: 'early' }, 'copy'],
    [{ now: 95, due: 95, copied: 'copied' }, 'copy'],
    [{ now: 95, due: 95, paid: 0, copied: 'failed' }, 'give up'],
    [{ now: 95, due: 95, paid: 0, copied: 'whole' }, 'end'],
  ] as const)('%j: %s', (change, step) => {
    expect(nextStep({ ...USUAL, ...change })).toBe(step);
  });
});

describe('the time that a budget pays for', () => {
  test.each([
    [null, '89.90', 60],
    [null, undefined, 60],
    ['89.90', '89.90', 60],
    ['44.95', '89.90', 30],
    ['0', '89.90', 0],
    // An amount must not be exceeded, and a price of zero must not keep the instance for ever.
    ['50', undefined, 0],
    ['50', '0', 60],
    ['much', '50', 0],
  ])('%s roubles at %s per hour: %d minutes', (budget, price, minutes) => {
    const amount = budget === null ? null : priceIn(budget);
    expect(paidTime(amount, priceIn(price))).toBe(minutes * MINUTE);
  });

  test('never costs more than the budget', () => {
    const [budget, price] = [priceIn('10'), priceIn('89.90')];
    if (budget === undefined || price === undefined) throw new Error('both are amounts');
    const cost = price.times(paidTime(budget, price)).div(3_600_000);
    expect(cost.lte(budget)).toBe(true);
  });
});

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const at = (path: string) => resolve(path);
const host = { home: at('src') } as Context['host'];

test.each<[string, string[], string[], string[]]>([
  ['a path', ['out'], ['a'], [at('a/out')]],
  ['a deep path', ['sub/out/'], ['a'], [at('a/out')]],
  ['paths of two instances', ['out', '/log:got'], ['a', 'b'], [at('b/out'), `${at('got/b')}/`]],
  ['a pattern', ['out/*', 'log/*:got/'], ['a'], [`${at('a')}/`, `${at('got')}/`]],
  ['a LOCAL', ['out:got', 'log:'], ['a'], [at('got'), at('a/log')]],
  ['an odd name', ['out'], ['../a/b\\c'], [at('_-a-b-c/out')]],
])('--rescue copies %s to its folder', async (_what, rescue, names, locals) => {
  const wanted = await toRescue({ rescue, rescueBudget: priceIn('5') }, names, { host });
  const remotes = rescue.map((text) => text.replace(/\/?(:.*)?$/, ''));
  expect({ paths: wanted?.pathsFor(names.at(-1) ?? ''), budget: wanted?.budget }).toEqual({
    paths: locals.map((local, each) => ({ remote: remotes[each], local })),
    budget: '5.00',
  });
});

const HOME = `contains your home folder\nname a folder for the files: 'REMOTE:LOCAL'`;

test.each<[string[], string]>([
  [['out', 'log'], ` "out": "${at('package.json')}" is not a folder\n`],
  [['out:/dev/null/x'], ' "out": "/dev/null" is not a folder\n'],
  [['none', 'out'], `: "none" can't be combined with paths\n`],
  [[], '-budget needs --rescue\n'],
  [['out:src'], ` "out": "${at('src')}" ${HOME}`],
  [['out:.'], ` "out": "${at('.')}" ${HOME}`],
  [['out/*:src'], ` "out/*": "${at('src')}/" ${HOME}`],
])('refuses --rescue %j', async (rescue, text) => {
  const flags = { ...(rescue.length > 0 && { rescue }), rescueBudget: priceIn('5') };
  const refused = toRescue(flags, ['package.json'], { host });
  const { message, hint = '' }: CliError = await refused.then(
    () => expect.fail('accepted'),
    (error) => error,
  );
  expect(`${message}\n${hint}`).toBe(`--rescue${text}`);
});

test('needs a deadline or an idle rule, and replaces one of two copies of a path', async () => {
  const wanted = { rescue: ['out'] };
  const idle = { ...wanted, ifIdle: MINUTE };
  const context = { host } as Context;
  expect(await withRescue(idle, ['a'], context)).toMatchObject(idle);
  await expect(withRescue(wanted, ['a'], context)).rejects.toThrow('--rescue needs a deadline');
  const [a, b] = ['a', 'b'].map((local) => notCopied({ remote: 'out', local })) as RescuedPath[];
  const copied = { ...b, failure: 'cut' } as RescuedPath;
  expect(replaced([a, b] as RescuedPath[], copied)).toEqual([a, copied]);
});

test('says what was copied, what was not, and what that means for the instance', () => {
  const [now, copied_at] = [Date.UTC(2026, 0, 15, 12, 10, 30), '2026-01-15T12:00:00.000Z'];
  const out = { ...notCopied({ remote: 'out', local: '/here/out' }), copied_at };
  const log = notCopied({ remote: 'log', local: '/here/log' });
  const cause = new CliError('deadline', 'Copying takes longer than the budget pays for.');
  const named = (name: string) => {
    const one = { id: ID, name };
    const lost = (...paths: RescuedPath[]) => lostError(one, paths, cause, now);
    const errors = [
      keptError(one, cause),
      keptError(one, new CliError('storage', 'No space'), now),
      keptError(one, new CliError('authentication', 'No key')),
      lost(out, log),
      lost({ ...out, failure: 'cut' }, { ...log, copied_at }),
      lost(out),
    ];
    const warned: string[] = [];
    const err = { warn: (code: string, text: string) => warned.push(`${code}: ${text}`) };
    const paths = [log, { ...out, changing: ['a', 'b'] }];
    warnOfChanging(name, paths, { err } as unknown as Context);
    return [
      ...errors.flatMap(({ failure, mayBeBilling, resource, message, hint = '' }) => [
        `${failure}${mayBeBilling ? ', bills' : ''}${resource === ID ? ', names its ID' : ''}`,
        message,
        hint.replaceAll('\ufdd0', ''),
      ]),
      oldText(name, [out, { ...log, copied_at }], now),
      rescuedText(one, [out, { ...log, files: 1, bytes: 7 }, { ...log, files: 2, bytes: 5e6 }]),
      ...warned,
    ];
  };
  expect(named(ODD)).toEqual(named('box').map((text) => ofOddName(text, 'box', ID)));
  expect(named('box').join('\n')).toMatchInlineSnapshot(`
    "runFailed, bills, names its ID
    Could not copy the --rescue paths of box: Copying takes longer than the budget pays for.
    copy them now: gpucloud instances rescue box
    storage, bills, names its ID
    Could not copy the --rescue paths of box: No space. It is kept until 2026-01-15 12:10 +00:00 at most, and gpucloud tries again.
    copy them now: gpucloud instances rescue box
    authentication, bills, names its ID
    Could not copy the --rescue paths of box: No key.
    copy them now: gpucloud instances rescue box
    runFailed, names its ID
    The budget of box was used up, so it was terminated before everything was copied (not copied: log). Copying takes longer than the budget pays for.

    runFailed, names its ID
    The budget of box was used up, so it was terminated before everything was copied (last copy: out is from 10 min ago). Copying takes longer than the budget pays for.

    runFailed, names its ID
    The budget of box was used up, so it was terminated before everything was copied (last copy: out is from 10 min ago). Copying takes longer than the budget pays for.

    The budget of box pays for no copy after its deadline, so later changes of its --rescue paths are lost (last copy: out is from 10 min ago, log is from 10 min ago).
    Copied from box: out to /here/out; log to /here/log (1 file, 7 bytes); log to /here/log (2 files, 5.0 MB).
    copy: out of box changes faster than it can be copied: the last copy differs in a, b"
  `);
});
