import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const PAGE = new URL('../docs/internals/soak.md', import.meta.url);

/** Writes docs/internals/soak.md at the end of `npm run test:soak`: the figures that its tests recorded. */
export default class Soak {
  onTestRunStart() {
    this.started = Date.now();
  }

  onTestRunEnd(modules) {
    const tests = modules.flatMap(({ children }) => [...children.allTests()]);
    const count = (state) => tests.filter((test) => test.result().state === state).length;
    const rows = tests.flatMap((test) =>
      (test.meta().soaked ?? []).map(
        ({ what, played, killed = '' }) =>
          `| ${what} | ${played} | ${killed} | ${test.result().state} |`,
      ),
    );
    const minutes = Math.round((Date.now() - this.started) / 60_000);
    writeFileSync(
      PAGE,
      [
        '# The last soak',
        '',
        '`npm run test:soak` writes this page. [Reliability](reliability.md) explains the tests.',
        '',
        `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${availableParallelism()} cores, ${minutes} minutes, seed ${process.env.GPUCLOUD_SEED}: ` +
          `${count('passed')} tests passed, ${count('failed')} failed, ${count('skipped')} skipped.`,
        '',
        '| what | played | killed before its end | result |',
        '|---|---|---|---|',
        ...rows,
        '',
      ].join('\n'),
    );
  }
}
