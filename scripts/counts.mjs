// Prints which tests failed and why, what was not tested, and last the counts of test runs:
// `N passed, N failed, N skipped`. Often only the last lines of a long run are read.
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { skipsLine } from './summary.mjs';

const given = process.argv.slice(2);
const files = given.length === 0 ? ['coverage/results.json'] : given;

/** The result is missing or invalid: the build, types or lint failed, or the run was killed. */
const NOTHING_RAN = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, testResults: [] };

/** The lines shown per failure: what was expected, what was found, and where. */
const LINES = 24;

function resultsOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    console.log(`failed (${basename(file, '.json')}): it left no result`);
    return NOTHING_RAN;
  }
}

function tell(run, file, title, messages) {
  console.log(`failed (${basename(run, '.json')}): ${relative('', file)}: ${title}`);
  const lines = messages.map(stripVTControlCharacters).join('\n').split('\n').slice(0, LINES);
  console.log(lines.map((line) => `  ${line}`).join('\n'));
}

const lacks = [];
const counts = { passed: 0, failed: 0, skipped: 0 };
for (const run of files) {
  const results = resultsOf(run);
  counts.passed += results.numPassedTests;
  counts.failed += results.numFailedTests;
  counts.skipped += results.numPendingTests;
  for (const { name, status, message, assertionResults } of results.testResults) {
    for (const { meta } of assertionResults) if (meta?.lacks !== undefined) lacks.push(meta.lacks);
    const failed = assertionResults.filter((each) => each.status === 'failed');
    for (const each of failed) tell(run, name, each.fullName, each.failureMessages);
    // A file whose tests could not begin has no failed tests.
    if (status === 'failed' && failed.length === 0) {
      counts.failed += 1;
      tell(run, name, 'the whole file', [message]);
    }
  }
}
console.log(skipsLine(lacks));
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
