// Prints failed tests with their reasons, then skipped tests, then the counts: `N passed, N failed,
// N skipped`. The counts come last because readers of a long run often see only its end.
import { existsSync, readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ERRORS, skipsLine } from './summary.mjs';

const given = process.argv.slice(2);
const files = given.length === 0 ? ['coverage/results.json'] : given;

/**
 * Used if the result is missing or invalid: a failed build, type check or lint, or a killed run.
 */
const NOTHING_RAN = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, testResults: [] };

/** Lines shown per failure: the expected and the actual value, and the location. */
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
    // A file that failed to load has no failed tests, so this counts the file itself.
    if (status === 'failed' && failed.length === 0) {
      counts.failed += 1;
      tell(run, name, 'the whole file', [message]);
    }
  }
}
if (existsSync(ERRORS)) {
  counts.failed += 1;
  tell('errors', ERRORS, 'outside any test', [readFileSync(ERRORS, 'utf8')]);
}
console.log(skipsLine(lacks));
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
