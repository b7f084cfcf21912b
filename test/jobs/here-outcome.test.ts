import { describe, expect, test } from 'vitest';
import { CliError, doubt, worstOf } from '../../src/errors.ts';
import { createPace } from '../../src/jobs/here/pace.ts';
import { outcomeOf } from '../../src/jobs/here/report.ts';

const INSTANCE = { id: '3f0c5d9e-1111-4222-8333-444455556666', name: 'job-1' };
const ENDED = { instance: INSTANCE, terminated: true, error: undefined } as const;
const KEPT = { instance: INSTANCE, terminated: false, error: undefined } as const;
const NONE = { instance: null, terminated: false, error: undefined } as const;
const DOUBT = doubt('Could not terminate job-2.', { resource: 'job-2' });
const UNSURE = { instance: INSTANCE, terminated: 'unknown', error: DOUBT } as const;
const LACKS = new CliError('runFailed', 'job-1: out does not exist on the instance');
const FAILED = new CliError('deadline', 'job-1: SSH did not respond.');
const REFUSED = new CliError('wrongState', 'job-1: out of stock');
const CTRL_C = new CliError('interrupted', 'Interrupted.');

type Given = Partial<Parameters<typeof outcomeOf>[0]>;

describe('the outcome of run --here', () => {
  test.each<[string, Given, number | undefined, string[]]>([
    ["is the command's exit code", {}, undefined, []],
    ["is the command's exit code if all are kept", { code: 3, ends: [KEPT] }, undefined, []],
    ['is 7 if one end is not certain', { ends: [ENDED, UNSURE] }, 7, []],
    ['is 7 after Ctrl-C too', { ends: [UNSURE], failure: CTRL_C, code: null }, 7, []],
    [
      'is 7 above all',
      { ends: [UNSURE, KEPT], failure: FAILED, missing: [LACKS] },
      7,
      [FAILED.message, LACKS.message],
    ],
    ['is 125 after a failure', { failure: FAILED, code: null }, 125, []],
    [
      'is 130 after Ctrl-C',
      { failure: CTRL_C, code: null, missing: [LACKS] },
      130,
      [LACKS.message],
    ],
    [
      'is that of the refusal if nothing was rented',
      { ends: [NONE], failure: REFUSED, code: null },
      5,
      [],
    ],
    ['is 125 if one was rented', { ends: [NONE, ENDED], failure: REFUSED, code: null }, 125, []],
    ['is 125 if results are missing', { missing: [LACKS] }, 125, []],
    [
      "is the failed command's own, results or not",
      { code: 3, missing: [LACKS] },
      undefined,
      [LACKS.message],
    ],
  ])('%s', (_what, given, exit, warned) => {
    const ends = { ends: [ENDED, ENDED], failure: undefined, code: 0, missing: [], ...given };
    const { errors, warnings } = outcomeOf(ends);
    expect(worstOf(errors)?.exitCode).toBe(exit);
    expect(warnings.map(({ message }) => message)).toEqual(warned);
  });
});

describe('the pace of several instances', () => {
  test('lets an instance go on once all have reached its stage or a later one', async () => {
    const pace = createPace(['a', 'b', 'c']);
    const passed: string[] = [];
    const reach = (name: string, stage: Parameters<typeof pace.reach>[1]) =>
      pace.reach(name, stage).then(() => passed.push(`${name} ${stage}`));
    reach('a', 'ready');
    reach('b', 'over');
    await Promise.resolve();
    expect(passed).toEqual([]);
    const last = reach('c', 'fetched');
    reach('a', 'held');
    await Promise.resolve();
    expect(passed).toEqual(['a ready', 'a held']);
    reach('a', 'fetched');
    await last;
    expect(passed).toEqual(['a ready', 'a held', 'c fetched', 'a fetched']);
  });
});
