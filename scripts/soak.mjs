import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const PAGE = new URL('../docs/internals/reliability.md', import.meta.url);
const HEADING = '## The last soak\n';

/** Writes the figures of `npm run test:soak` to the last section of the page. */
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
    const [before] = readFileSync(PAGE, 'utf8').split(HEADING);
    writeFileSync(
      PAGE,
      [
        `${before}${HEADING}`,
        '`npm run test:soak` writes this section.',
        '',
        `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${availableParallelism()} cores, ${minutes} minutes, seed ${process.env.GPUCLOUD_SEED}: ` +
          `${count('passed')} tests passed, ${count('failed')} failed, ${count('skipped')} skipped.`,
        '',
        '| scenario | runs | killed before the end | result |',
        '|---|---|---|---|',
        ...rows,
        '',
      ].join('\n'),
    );
  }
}
