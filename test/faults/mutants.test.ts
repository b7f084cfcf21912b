import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { has, needs } from '../support/needs.ts';
import { type Mutant, mutantBundle } from './bundle.ts';
import { disorder } from './order.ts';
import { FAULTS, type Fault, NO_FAULT, type Point } from './proxy.ts';
import { races } from './race.ts';
import { type Kill, playAll } from './rig.ts';
import { SOAK } from './tools.ts';

interface Case extends Mutant {
  /** Returns the violations that a part of the suite finds. At least one is expected. */
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
    name: 'the request is not written',
    file: 'journal/sending.ts',
    from: '(await createRequest(folder, record)) ?',
    to: 'record !== undefined ?',
    check: through(NO_FAULT.name, 'acted'),
  },
  {
    name: 'a name that is taken is used',
    file: 'journal/requests.ts',
    from: "errorCode(error) === 'EEXIST' ? false",
    to: "errorCode(error) === 'EEXIST' ? true",
    check: (bundle) => races(bundle, 6, ['create']),
  },
  {
    name: 'the id is not taken from the raw response',
    file: 'instances/rent/rent.ts',
    from: 'responseId(text)',
    to: 'responseId("")',
    check: through('cut: half answer'),
  },
  {
    name: 'the file of the request is not fsynced',
    file: 'journal/requests.ts',
    from: 'await replaceFile(whole, text);',
    to: 'writeFileSync(whole, text);',
    check: strace,
    needsStrace: true,
  },
  {
    name: 'the folder of the request is not fsynced',
    file: 'journal/requests.ts',
    from: 'if (isOurs) syncFolder(dirname(path));',
    to: '',
    check: strace,
    needsStrace: true,
  },
  {
    name: 'the instance is not fsynced',
    file: 'system/files.ts',
    from: 'fsyncSync(file);',
    to: '',
    check: strace,
    needsStrace: true,
  },
  {
    name: 'the instance is not written',
    file: 'journal/sending.ts',
    from: 'await writing(() => madeBy(id, record, folder));',
    to: '',
    check: through('a wrong type behind the id'),
  },
  {
    name: 'a response about an instance of another name is believed',
    file: 'journal/sending.ts',
    from: '!isSameName(name, record.name)',
    to: 'name === undefined',
    check: through('another name'),
  },
  {
    name: 'a POST is sent again',
    file: 'api/retry.ts',
    from: 'tried === TRIES || (sent && !isRepeated)',
    to: 'tried === TRIES',
    check: through('cut: acted'),
  },
  {
    name: 'a lost response counts as not sent',
    file: 'instances/rent/rent.ts',
    from: 'return isSureRefusal(httpStatus);',
    to: 'return isSureRefusal(httpStatus) || failure === "outcomeUnknown";',
    check: through('cut: acted'),
  },
  {
    name: 'any response with an error counts as a refusal',
    file: 'api/errors.ts',
    from: 'status >= 400 && status < 500 && status !== 408',
    to: 'status >= 400',
    check: through('502 and done'),
  },
];

test.each(MUTANTS)("finds the mutant's source text exactly once: $name", async ({ file, from }) => {
  const source = await readFile(new URL(`../../src/${file}`, import.meta.url), 'utf8');
  expect(source.split(from)).toHaveLength(2);
});

// `npm test` runs one mutant, and the soak runs all. Mutants are built for Node.
describe('the fault suite', needs('the npm package'), () => {
  for (const mutant of SOAK ? MUTANTS : MUTANTS.slice(0, 1)) {
    const needed = mutant.needsStrace === true ? needs('strace') : {};
    test(`finds a violation if ${mutant.name}`, { timeout: 300_000, ...needed }, async () => {
      const bundle = await mutantBundle(mutant);
      try {
        expect(await mutant.check(bundle.path)).not.toEqual([]);
      } finally {
        await bundle.remove();
      }
    });
  }

  test('reports no violation in the unchanged program', async () => {
    const same = {
      name: 'nothing',
      file: 'system/files.ts',
      from: 'fsyncSync(file)',
      to: 'fsyncSync(file)',
    };
    const bundle = await mutantBundle(same);
    try {
      for (const { check, needsStrace } of SOAK ? MUTANTS : MUTANTS.slice(0, 1)) {
        if (needsStrace !== true || has('strace')) expect(await check(bundle.path)).toEqual([]);
      }
    } finally {
      await bundle.remove();
    }
  }, 900_000);
});
