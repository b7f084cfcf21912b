// Changes the source in one small way at a time and expects the room's tests to fail.
// npm run mutate [-- ROOM|NUMBER...]; without arguments, writes docs/internals/mutations.md.
import { setMaxListeners } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, createVitest } from 'vitest/node';
import { MUTATIONS, mutated, sourceOf } from '../test/mutations/index.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = fileURLToPath(new URL('../docs/internals/mutations.md', import.meta.url));

/** Stops a run in which a mutation created an endless loop. */
const PATIENCE_MS = 300_000;
/** A small heap makes an endless loop that fills memory fail sooner. */
const HEAP_MIB = 1024;

/** Keeps the listed order, which puts the tests that fail soonest first. */
class AsListed extends BaseSequencer {
  async sort(files) {
    return files;
  }
}

// Vitest adds listeners in each run, and Node would warn of a leak.
setMaxListeners(0);

// Uses the same random values in every run, so that results can be repeated.
process.env.GPUCLOUD_SEED ??= '1';

/** Runs Vitest with at most one mutation of the source; changes no file. */
async function openTests() {
  let mutation;
  let isLoaded = false;
  const plugin = {
    name: 'mutation',
    enforce: 'pre',
    load(id) {
      if (mutation === undefined || id !== sourceOf(mutation)) return undefined;
      isLoaded = true;
      return mutated(readFileSync(id, 'utf8'), mutation);
    },
  };
  const vitest = await createVitest(
    'test',
    {
      config: false,
      root: ROOT,
      watch: false,
      include: ['test/**/*.test.ts'],
      globalSetup: ['test/support/temporary.ts'],
      env: { NO_COLOR: '1' },
      isolate: false,
      maxWorkers: 1,
      execArgv: [`--max-old-space-size=${HEAP_MIB}`],
      sequence: { sequencer: AsListed },
      bail: 1,
      testTimeout: 20_000,
      hookTimeout: 20_000,
      reporters: [{}],
    },
    { plugins: [plugin] },
  );

  async function end() {
    // The second call kills tests that don't stop.
    void vitest.cancelCurrentRun('keyboard-input');
    await vitest.cancelCurrentRun('keyboard-input');
  }

  return {
    /** Returns the first test that fails with the mutation, if any. */
    async failing(files, next) {
      mutation = next;
      isLoaded = false;
      if (next !== undefined) vitest.invalidateFile(sourceOf(next));
      const found = await Promise.all(
        files.map(async (file) => {
          const specifications = await vitest.globTestSpecifications([file]);
          if (specifications.length === 0) throw new Error(`${file} has no tests`);
          return specifications;
        }),
      );
      const specifications = [...new Set(found.flat())];
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        void end();
      }, PATIENCE_MS);
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
      clearTimeout(timer);
      if (next !== undefined) vitest.invalidateFile(sourceOf(next));
      if (isLate) return 'no end';
      if (next !== undefined && !isLoaded)
        throw new Error(`${next.number}: the tests load no ${next.file}`);
      const ids = new Set(specifications.map(({ moduleId }) => moduleId));
      const modules = testModules.filter(({ moduleId }) => ids.has(moduleId));
      for (const one of modules) {
        for (const test of one.children.allTests('failed')) return test.fullName;
      }
      const broken = modules.find((one) => one.state() === 'failed');
      const [error] = [...(broken?.errors() ?? []), ...unhandledErrors];
      return error?.message.split('\n')[0];
    },
    close: () => vitest.close(),
  };
}

function filesOf({ tests }) {
  return tests.map((test) => `test/${test}`);
}

async function judge(mutation, tests) {
  const started = Date.now();
  const files = filesOf(mutation).filter((file) => !red.has(file));
  const failed = files.length === 0 ? undefined : await tests.failing(files, mutation);
  const seconds = `${((Date.now() - started) / 1000).toFixed(1)} s`;
  const outcome =
    failed !== undefined ? 'killed' : mutation.equivalent === undefined ? 'SURVIVED' : 'equivalent';
  const why = failed ?? mutation.equivalent ?? mutation.tests.join(', ');
  console.log(
    `${String(mutation.number).padStart(3)} ${outcome.padEnd(10)} ${seconds.padStart(7)}  ${mutation.file}: ${mutation.name} [${why}]`,
  );
  return { mutation, outcome, failed };
}

function chosen(words) {
  if (words.length === 0) return MUTATIONS;
  const rooms = new Set(MUTATIONS.map(({ room }) => room));
  for (const word of words) {
    if (!rooms.has(word) && MUTATIONS[Number(word) - 1] === undefined) {
      throw new Error(`"${word}": a room (${[...rooms].join(', ')}) or 1 to ${MUTATIONS.length}`);
    }
  }
  return MUTATIONS.filter(
    ({ room, number }) => words.includes(room) || words.includes(String(number)),
  );
}

/** Counts killed, surviving and equivalent mutations per room. */
function table(results) {
  const row = (title, some) => {
    const count = (outcome) => some.filter((one) => one.outcome === outcome).length;
    return `| ${title} | ${count('killed')} | ${count('equivalent')} | ${count('SURVIVED')} |`;
  };
  const rooms = [...new Set(results.map(({ mutation }) => mutation.room))];
  return [
    '| folder | killed | equivalent | survived |',
    '|---|---:|---:|---:|',
    ...rooms.map((room) =>
      row(
        room,
        results.filter(({ mutation }) => mutation.room === room),
      ),
    ),
    row('all', results),
  ].join('\n');
}

/** Returns the part of the page that this script does not write. */
function rest() {
  return /^## Mutations outside the list[\s\S]*/m.exec(readFileSync(PAGE, 'utf8'))?.[0] ?? '';
}

function page(results) {
  const equivalent = results
    .filter(({ outcome }) => outcome === 'equivalent')
    .map(({ mutation }) => `- \`src/${mutation.file}\`: ${mutation.name}. ${mutation.equivalent}`);
  return `# Mutations

A mutation is one small change to the source. \`npm run mutate\` applies each mutation of \`test/mutations/\`, runs
the tests of its folder, and writes this table. A mutation is *killed* if a test fails. A mutation is *equivalent*
if no test can detect it.

${table(results)}

Equivalent mutations:

${equivalent.join('\n')}

${rest()}`;
}

const selected = chosen(process.argv.slice(2));
for (const mutation of selected) mutated(readFileSync(sourceOf(mutation), 'utf8'), mutation);

const started = Date.now();
const results = [];
/** Tests that fail without a mutation, by file. They don't count for mutations. */
const red = new Map();
// Runs one Vitest more than there are cores, since tests often wait.
const instances = await Promise.all(Array.from({ length: availableParallelism() + 1 }, openTests));

/** Passes the next item to the first idle Vitest. */
function inTurn(items, work) {
  return Promise.all(
    instances.map(async (tests) => {
      for (const item of items) await work(item, tests);
    }),
  );
}

try {
  // Finds tests that fail without a mutation: they would kill every mutation.
  await inTurn(new Set(selected.flatMap(filesOf)).values(), async (file, tests) => {
    const failed = await tests.failing([file], undefined);
    if (failed !== undefined) red.set(file, failed);
  });
  console.log(
    `${selected.length} mutations; ${Math.round((Date.now() - started) / 1000)} s to see the tests pass`,
  );
  await inTurn(selected.entries(), async ([at, mutation], tests) => {
    results[at] = await judge(mutation, tests);
  });
} finally {
  await Promise.all(instances.map((tests) => tests.close()));
}

console.log(`\n${table(results)}\n\n${Math.round((Date.now() - started) / 1000)} s`);
const survived = results.filter(({ outcome }) => outcome === 'SURVIVED');
const wrong = results.filter(
  ({ mutation, failed }) => failed !== undefined && mutation.equivalent !== undefined,
);
for (const { mutation } of survived) {
  console.log(`survived: ${mutation.number} src/${mutation.file}: ${mutation.name}`);
}
for (const { mutation } of wrong) {
  console.log(`not equivalent: ${mutation.number} src/${mutation.file}: ${mutation.name}`);
}
for (const [file, test] of red) console.log(`fails without a mutation: ${file}: ${test}`);
// Vitest sets a failing exit code for each killed mutation, which counts as a success.
process.exitCode = survived.length + wrong.length + red.size === 0 ? 0 : 1;
if (process.exitCode === 0 && selected === MUTATIONS) writeFileSync(PAGE, page(results));
