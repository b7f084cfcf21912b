// Prints the counts of test runs as one line: `N passed, N failed, N skipped`.
import { readFileSync } from 'node:fs';

const files = process.argv.slice(2);

/** What is not there, or is no result: the build, types or lint failed before a test could run. */
const NOTHING_RAN = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 };

function resultsOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return NOTHING_RAN;
  }
}

const all = (files.length === 0 ? ['coverage/results.json'] : files).map(resultsOf);
const sum = (name) => all.reduce((total, results) => total + results[name], 0);
console.log(
  `${sum('numPassedTests')} passed, ${sum('numFailedTests')} failed, ${sum('numPendingTests')} skipped`,
);
