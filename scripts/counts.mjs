// Prints the counts of the last test run as one line: `N passed, N failed, N skipped`.
import { readFileSync } from 'node:fs';

const file = process.argv[2] ?? 'coverage/results.json';
let results;
try {
  results = JSON.parse(readFileSync(file, 'utf8'));
} catch {
  // The build, the types or the lint failed before a test could run.
  results = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 };
}
const { numPassedTests, numFailedTests, numPendingTests } = results;
console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
