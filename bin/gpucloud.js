#!/usr/bin/env node

const { fstatSync, readFileSync, realpathSync, writeSync } = require('node:fs');
const { join } = require('node:path');

// npm puts a link to this file on PATH. With --preserve-symlinks-main, Node reports that link's
// path.
const root = join(realpathSync.native(__filename), '..', '..');
const argv = process.argv.slice(2);

/**
 * Prints the version for `gpucloud --version`. Returns false unless the whole version was printed.
 */
function printedVersion() {
  if (argv.length !== 1 || (argv[0] !== '--version' && argv[0] !== '-V')) return false;
  try {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const line = `gpucloud ${version}\n`;
    // Writing to a file at its size limit would kill this process.
    return !fstatSync(1).isFile() && writeSync(1, line) === line.length;
  } catch {
    // The program prints the version again and reports the error.
    return false;
  }
}

/** Replaces Node's own message, which quotes a page of minified code. */
function brokenMessage(error) {
  // V8's message quotes unparseable text, including control characters.
  const why = (error instanceof Error ? error.message : String(error)).replace(/\p{Cc}+/gu, ' ');
  return `error: gpucloud can't start because its files are incomplete or damaged: ${why}\nhint: install it again: npm install --global gpucloud\n`;
}

if (!printedVersion()) {
  try {
    require(join(root, 'dist', 'start.cjs'));
  } catch (error) {
    // The program reports its own errors, so this error comes from loading the program.
    if (argv.includes('--debug')) throw error;
    process.exitCode = 1;
    writeSync(2, brokenMessage(error));
  }
}
