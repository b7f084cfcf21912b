#!/usr/bin/env node

const { fstatSync, readFileSync, realpathSync, writeSync } = require('node:fs');
const { join } = require('node:path');

// Starts the program in dist/, which `npm run build` writes.

// npm links this file onto PATH, and some settings keep Node from following that link.
const root = join(realpathSync.native(__filename), '..', '..');
const argv = process.argv.slice(2);

/** Prints the version if nothing else is requested. Returns whether everything was written. */
function printedVersion() {
  if (argv.length !== 1 || (argv[0] !== '--version' && argv[0] !== '-V')) return false;
  try {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const line = `gpucloud ${version}\n`;
    // A file may have reached its size limit, which would end this process by a signal.
    return !fstatSync(1).isFile() && writeSync(1, line) === line.length;
  } catch {
    // The program tries again and reports the fault.
    return false;
  }
}

/** Node would print the line that threw: a page of minified code. */
function brokenMessage(error) {
  // V8 quotes unparseable text, control characters included.
  const why = (error instanceof Error ? error.message : String(error)).replace(/\p{Cc}+/gu, ' ');
  return `error: gpucloud can't start because its files are incomplete or damaged: ${why}\nhint: install it again: npm install --global gpucloud\n`;
}

if (!printedVersion()) {
  try {
    require(join(root, 'dist', 'start.cjs'));
  } catch (error) {
    // Nothing is done yet. The program reports its own errors.
    if (argv.includes('--debug')) throw error;
    process.exitCode = 1;
    writeSync(2, brokenMessage(error));
  }
}
