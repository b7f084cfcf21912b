import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { putIn, removeFolder, runIn, scratchOf } from './tree.mjs';

/** What `npm test` runs. */
const PROJECTS = ['--project', 'code', '--project', 'quick'];
const VITEST = 'node_modules/vitest/vitest.mjs';
/** Ends a run in which a fault made an endless loop. */
const NEAR_MS = 10 * 60_000;
const WHOLE_MS = 40 * 60_000;
const SLOW_MS = 1000;
/** The nearest tests of a fault run in two steps, since the first few find most faults. */
const NEAR_FILES = [3, 20];
/** Faults that share one run of all tests. */
const GROUP = 10;

/** Returns the words that choose one test of a file. */
const named = (test) =>
  test === undefined ? [] : [`--testNamePattern=^${test.replace(/[^\w ]/g, '.')}$`];

/**
 * Judges faults in copies of the tree. Each verdict comes from a new process with one fault. Tests
 * that fail without a fault don't count.
 */
export function judgeIn(copies, nearest) {
  /** Whether tests pass without a fault, by the words that choose them. */
  const passes = new Map();

  async function vitest(copy, words, limitMs, workers = 1) {
    const scratch = scratchOf(copy);
    const report = join(copy, 'coverage/mutate.json');
    rmSync(report, { force: true });
    mkdirSync(scratch, { recursive: true });
    const { code, late, output } = await runIn(
      copy,
      [
        ...['env', `TMPDIR=${scratch}`, 'GPUCLOUD_SEED=1', `VITEST_MAX_WORKERS=${workers}`],
        ...[process.execPath, VITEST, 'run'],
        ...['--passWithNoTests', '--experimental.fsModuleCache', '--reporter=json'],
        ...[`--outputFile.json=${report}`, ...words],
      ],
      limitMs,
    );
    removeFolder(scratch);
    if (late) return { failed: [{ what: 'no end', isSlow: true }], late };
    const failed = failuresOf(copy, report);
    if (failed.length === 0 && code !== 0)
      failed.push({ what: output.replace(/JSON report .*/, '').trim(), isSlow: true });
    return { failed };
  }

  function failuresOf(copy, report) {
    let results;
    try {
      results = JSON.parse(readFileSync(report, 'utf8'));
    } catch {
      // Vitest itself failed; the caller shows its output.
      return [];
    }
    // A file that passes with a fault is not one that always fails.
    for (const { name, assertionResults: tests } of results.testResults)
      if (tests.length > 0 && tests.every(({ status }) => status === 'passed'))
        passes.set(relative(copy, name), true);
    return results.testResults
      .filter(({ status }) => status === 'failed')
      .map(({ name, message, assertionResults }) => {
        const failed = assertionResults.find((each) => each.status === 'failed');
        const test = failed?.fullName;
        return {
          file: relative(copy, name),
          test,
          what: test ?? message.split('\n')[0],
          isSlow: failed?.duration > SLOW_MS,
        };
      });
  }

  /** Returns whether the tests pass in the copy as it is, which has no fault. */
  async function passWithout(copy, words) {
    const name = words.join(' ');
    if (!passes.has(name)) {
      const { failed } = await vitest(copy, [...PROJECTS, ...words], NEAR_MS);
      passes.set(name, failed.length === 0);
    }
    return passes.get(name);
  }

  function vitestWith(fault, copy, words) {
    const restore = putIn(copy, [fault]);
    return vitest(copy, words, NEAR_MS).finally(restore);
  }

  /** Returns the first test that fails with the fault, if any. */
  async function failing(copy, fault, files, projects) {
    let left = files;
    while (left.length > 0) {
      const { failed } = await vitestWith(fault, copy, [...projects, '--bail=1', ...left]);
      if (failed.length === 0) return undefined;
      const [{ file, test, what, isSlow }] = failed;
      const suspects = file === undefined ? left : [file, ...named(test)];
      if (passes.get(file) || (await passWithout(copy, suspects))) {
        // A slow test can also fail because the computer is busy, so it must fail twice.
        const isSure =
          !isSlow || (await vitestWith(fault, copy, [...projects, ...suspects])).failed.length > 0;
        if (isSure) return `${file ?? 'the run'}: ${what}`;
      }
      if (file === undefined) return undefined;
      left = left.filter((each) => each !== file);
    }
    return undefined;
  }

  /** Runs `work` for each fault in the next idle copy. */
  async function inCopies(faults, work) {
    const queue = [...faults];
    await Promise.all(
      copies.map(async (copy) => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift())
          await work(copy, next);
      }),
    );
  }

  /** Runs all tests of `npm test` with several faults, then the failed files with each fault. */
  async function group(faults, found) {
    const [copy] = copies;
    const restore = putIn(copy, faults);
    const { failed, late } = await vitest(copy, PROJECTS, WHOLE_MS, copies.length);
    restore();
    if (late && faults.length > 1) {
      const half = Math.ceil(faults.length / 2);
      await group(faults.slice(0, half), found);
      await group(faults.slice(half), found);
      return;
    }
    if (late) return found(faults[0], 'no end');
    const files = failed.flatMap(({ file }) => file ?? []);
    if (files.length < failed.length)
      console.error(`failed outside of tests, and counts for no fault: ${failed[0].what}`);
    await inCopies(faults, async (own, fault) => {
      const by = files.length === 0 ? undefined : await failing(own, fault, files, PROJECTS);
      found(fault, by);
    });
  }

  return {
    /** Runs the nearest tests; `found` gets the test that failed, or undefined. */
    near: (faults, found) =>
      inCopies(faults, async (copy, fault) => {
        const files = nearest(fault.file);
        let by;
        for (const [at, to] of NEAR_FILES.entries()) {
          const some = files.slice(NEAR_FILES[at - 1] ?? 0, to);
          by ??= await failing(copy, fault, some, ['--project', 'code']);
        }
        found(fault, by);
      }),
    /** Runs all tests of `npm test`. */
    async whole(faults, found) {
      const open = [...faults];
      while (open.length > 0) {
        const some = [];
        for (const fault of open)
          if (some.length < GROUP && !some.some(({ file }) => file === fault.file))
            some.push(fault);
        for (const fault of some) open.splice(open.indexOf(fault), 1);
        await group(some, found);
      }
    },
  };
}
