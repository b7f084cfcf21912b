import { randomInt } from 'node:crypto';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Each run tries other random values; GPUCLOUD_SEED repeats those of another run.
process.env.GPUCLOUD_SEED ??= String(randomInt(2 ** 31));
// The time zone of the transcripts.
process.env.TZ ??= 'UTC';

/** Tests that start the built program, or processes of their own. */
const PROGRAM = [
  'test/{docs,e2e,faults,project,start,support}/**/*.test.ts',
  'test/config/{disk,file}.test.ts',
  'test/contract/streams.test.ts',
  'test/output/sink.test.ts',
  'test/system/programs.test.ts',
  'test/ssh/inventory-tools.test.ts',
  'test/jobs/supervisor.test.ts',
  'test/sandbox/state-file.test.ts',
  'test/watch/sandbox-follow.test.ts',
];

/** About a minute of the built program for `npm test`: start, a rental, the race for one name, faults, kills, ssh. */
const QUICK = [
  'test/config/{disk,file}.test.ts',
  'test/e2e/{race,rental,ssh-terminal}.test.ts',
  'test/faults/{kill,network,order}.test.ts',
  'test/output/sink.test.ts',
  'test/start/{bundle,faults}.test.ts',
  'test/system/programs.test.ts',
  'test/sandbox/state-file.test.ts',
];

/** Changes this computer, so nothing may run at the same time. */
const ALONE = ['test/project/debian.test.ts'];

/** They take the longest, much of it one process after the other, so the others run beside them. */
const LONGEST = [
  'e2e/cron',
  'e2e/cron-rescue',
  'docs/command-lines',
  'e2e/ending',
  'e2e/rescue',
  'e2e/run-job-places',
  'faults/deadlines',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const BUILD = 'test/support/build.ts';

const shared = {
  // With all random values, a test may take 20 seconds on two busy cores.
  testTimeout: process.env.GPUCLOUD_FUZZ === undefined ? 60_000 : 120_000,
  hookTimeout: 60_000,
  // One second, the default, is short on a busy computer.
  expect: { poll: { timeout: 20_000 } },
  // Keeps the developer's settings out of the tests. Node's readline ignores control keys on `dumb`.
  env: { NO_COLOR: '1', TERM: 'xterm-256color' },
};

export default defineConfig({
  test: {
    // The smallest supported computer has two cores, and a third of the time tests wait.
    maxWorkers: 3,
    reporters: ['default', './scripts/summary.mjs'],
    globalSetup: ['test/support/temporary.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'code',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...PROGRAM],
          isolate: false,
          setupFiles: ['test/support/transcripts.ts'],
        },
      },
      {
        extends: true,
        test: { ...shared, name: 'quick', include: QUICK, isolate: false, globalSetup: [BUILD] },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'rest',
          include: PROGRAM,
          exclude: [...configDefaults.exclude, ...QUICK, ...ALONE],
          globalSetup: [BUILD],
          // Its tests wait more than they compute.
          maxWorkers: 8,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { ...shared, name: 'alone', include: ALONE, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
