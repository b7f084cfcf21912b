import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { type Mutant, mutantBundle } from './bundle.ts';
import { disorder } from './order.ts';
import { FAULTS, type Fault, NO_FAULT, type Point } from './proxy.ts';
import { type Kill, playAll } from './rig.ts';
import { HAS_STRACE, SOAK } from './tools.ts';

interface Case extends Mutant {
  /** What of the suite has to turn red: a list of complaints that may not be empty. */
  readonly check: (bundle: string) => Promise<string[]>;
  readonly needsStrace?: true;
}

function through(name: string, at?: Point): (bundle: string) => Promise<string[]> {
  const fault: Fault | undefined = FAULTS.find((one) => one.name === name);
  if (fault === undefined) throw new Error(`no fault ${name}`);
  const kill: Kill | undefined = at === undefined ? undefined : { at };
  return async (bundle) => {
    const scenario = { operation: 'create' as const, fault, ...(kill && { kill }) };
    return (await playAll(bundle, [scenario], { computers: 1 })).violations;
  };
}

const strace = (bundle: string) => disorder(bundle, 'create');

const MUTANTS: readonly Case[] = [
  {
    name: 'the intent is not written',
    file: 'rentals/requests.ts',
    from: 'await reserveFile(path, requestText(intent))',
    to: '{ overwrite: async () => {}, close: async () => {} }',
    check: through(NO_FAULT.name, 'acted'),
  },
  {
    name: 'the id is not salvaged',
    file: 'instances/journaled.ts',
    from: 'salvage(text.slice(0, SALVAGED))',
    to: 'salvage("")',
    check: through('cut: half answer'),
  },
  {
    name: 'the file of the intent is not fsynced',
    file: 'files/reserved.ts',
    from: 'fsyncSync(file);',
    to: '',
    check: strace,
    needsStrace: true,
  },
  {
    name: 'the folder of the intent is not fsynced',
    file: 'files/reserved.ts',
    from: 'syncFolder(dirname(path));',
    to: '',
    check: strace,
    needsStrace: true,
  },
  {
    name: 'the outcome is not fsynced',
    file: 'files/reserved.ts',
    from: 'fdatasyncSync(file);',
    to: '',
    check: strace,
    needsStrace: true,
  },
  {
    name: 'the outcome is not written',
    file: 'files/reserved.ts',
    from: 'while (done < bytes.length)',
    to: 'while (done > bytes.length)',
    check: strace,
    needsStrace: true,
  },
  {
    name: 'an answer about a machine of another name is believed',
    file: 'rentals/doubt.ts',
    from: '!isSameName(name, intent.name)',
    to: 'name === undefined',
    check: through('another name'),
  },
  {
    name: 'a POST is sent again',
    file: 'api/calls/retry.ts',
    from: 'if (error.sent || error.stopped || tried === TRIES) throw error;',
    to: 'if (error.stopped || tried === TRIES) throw error;',
    check: through('cut: acted'),
  },
  {
    name: 'a lost answer counts as not sent',
    file: 'instances/journaled.ts',
    from: "isNo && REFUSED.includes(failure) ? 'refused' : 'unknown'",
    to: "isNo && REFUSED.includes(failure) ? 'refused' : 'not_sent'",
    check: through('cut: acted'),
  },
  {
    name: 'any answer of an error counts as a refusal',
    file: 'api/calls/errors.ts',
    from: 'status >= 400 && status < 500 && status !== 408',
    to: 'status >= 400',
    check: through('502 and done'),
  },
];

test.each(MUTANTS)(
  'the safeguard is where its mutant looks for it: $name',
  async ({ file, from }) => {
    const source = await readFile(new URL(`../../src/${file}`, import.meta.url), 'utf8');
    expect(source.split(from)).toHaveLength(2);
  },
);

// One of them in `npm test`; all in the soak.
describe('without a safeguard the suite turns red', () => {
  test.for(SOAK ? MUTANTS : MUTANTS.slice(0, 1))(
    '$name',
    { timeout: 300_000 },
    async (mutant, task) => {
      task.skip(
        mutant.needsStrace === true && !HAS_STRACE,
        'strace is not there, or may not be used',
      );
      const bundle = await mutantBundle(mutant);
      try {
        expect(await mutant.check(bundle.path)).not.toEqual([]);
      } finally {
        await bundle.remove();
      }
    },
  );

  test('and with all of them it is green', async () => {
    const same = {
      name: 'nothing',
      file: 'files/reserved.ts',
      from: 'fdatasyncSync(file)',
      to: 'fdatasyncSync(file)',
    };
    const bundle = await mutantBundle(same);
    try {
      for (const { check, needsStrace } of SOAK ? MUTANTS : MUTANTS.slice(0, 1)) {
        if (needsStrace !== true || HAS_STRACE) expect(await check(bundle.path)).toEqual([]);
      }
    } finally {
      await bundle.remove();
    }
  }, 900_000);
});
