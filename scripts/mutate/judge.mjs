import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { putIn, removeFolder, runIn, scratchOf } from './tree.mjs';

/** What `npm test` runs. */
const PROJECTS = ['--project', 'code', '--project', 'quick'];
const VITEST = 'node_modules/vitest/vitest.mjs';
/** Ends a run in which a fault made an endless loop. */
const NEAR_MS = 10 * 60_000;
const WHOLE_MS = 40 * 60_000;
/** The nearest tests of a fault. */
const NEAR_FILES = 20;
/** Faults that share one run of all tests. */
const GROUP = 10;

/**
 * Judges faults in copies of the tree. Each verdict comes from a new process with one fault. Tests
 * that fail without a fault don't count.
 */
export function judgeIn(copies, nearest) {
  /** Whether test files pass without a fault. */
  const passes = new Map();

  async function vitest(copy, words, limitMs) {
    const scratch = scratchOf(copy);
    const report = join(copy, 'coverage/mutate.json');
    rmSync(report, { force: true });
    mkdirSync(scratch, { recursive: true });
    const { code, late, output } = await runIn(
      copy,
      [
        ...['env', `TMPDIR=${scratch}`, 'GPUCLOUD_SEED=1', process.execPath, VITEST, 'run'],
        ...['--passWithNoTests', '--reporter=json', `--outputFile.json=${report}`, ...words],
      ],
      limitMs,
    );
    removeFolder(scratch);
    if (late) return { failed: [{ file: undefined, test: 'no end' }], late };
    if (code === 0) return { failed: [] };
    const failed = failuresOf(copy, report);
    if (failed.length === 0)
      failed.push({ file: undefined, test: output.replace(/JSON report .*/, '').trim() });
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
    return results.testResults
      .filter(({ status }) => status === 'failed')
      .map(({ name, message, assertionResults }) => {
        const test = assertionResults.find((each) => each.status === 'failed');
        return { file: relative(copy, name), test: test?.fullName ?? message.split('\n')[0] };
      });
  }

  /** Returns whether the files pass in the copy as it is, which has no fault. */
  function passWithout(copy, files) {
    const name = files.join(' ');
    if (!passes.has(name))
      passes.set(
        name,
        vitest(copy, [...PROJECTS, '--maxWorkers=1', ...files], NEAR_MS).then(
          ({ failed }) => failed.length === 0,
        ),
      );
    return passes.get(name);
  }

  /** Returns the first test that fails with the fault, if any. */
  async function failing(copy, fault, files, projects) {
    let left = files;
    while (left.length > 0) {
      const words = [...projects, '--bail=1', '--maxWorkers=1', ...left];
      let restore = putIn(copy, [fault]);
      const { failed } = await vitest(copy, words, NEAR_MS);
      restore();
      if (failed.length === 0) return undefined;
      const [{ file, test }] = failed;
      const suspects = file === undefined ? left : [file];
      if (await passWithout(copy, suspects)) {
        // A test can also fail because the computer is busy, so it must fail twice.
        restore = putIn(copy, [fault]);
        const second = await vitest(copy, [...projects, '--maxWorkers=1', ...suspects], NEAR_MS);
        restore();
        if (second.failed.length > 0) return `${file ?? 'the run'}: ${test}`;
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
    const words = [...PROJECTS, `--maxWorkers=${copies.length}`];
    const { failed, late } = await vitest(copy, words, WHOLE_MS);
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
      console.error(`failed outside of tests, and counts for no fault: ${failed[0].test}`);
    await inCopies(faults, async (own, fault) => {
      const by = files.length === 0 ? undefined : await failing(own, fault, files, PROJECTS);
      found(fault, by);
    });
  }

  return {
    /** Runs the nearest tests; `found` gets the test that failed, or undefined. */
    near: (faults, found) =>
      inCopies(faults, async (copy, fault) => {
        const files = nearest(fault.file).slice(0, NEAR_FILES);
        found(fault, await failing(copy, fault, files, ['--project', 'code']));
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
