// What the runner gives to an action, and takes from it.
import { appendFileSync } from 'node:fs';

/** An input of the step; empty if it is not given. */
export function input(name) {
  return (process.env[`INPUT_${name.toUpperCase()}`] ?? '').trim();
}

export function linesOf(text) {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Saves a value for post.mjs, which reads it as STATE_NAME. */
export function saveState(name, value) {
  append('GITHUB_STATE', name, value);
}

export function setOutput(name, value) {
  append('GITHUB_OUTPUT', name, value);
}

function append(variable, name, value) {
  const file = process.env[variable];
  if (!file) throw new Error(`${variable} is not set: this runs as a step of GitHub Actions`);
  // Another line would be another value.
  const line = String(value).replace(/[\r\n]+/g, ' ');
  appendFileSync(file, `${name}=${line}\n`);
}

/** Shows an error on the page of the run, and fails the step. */
export function fail(message) {
  const escaped = message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  process.stdout.write(`::error title=gpucloud::${escaped}\n`);
  process.exitCode = 1;
}

export function program() {
  return input('program') || 'gpucloud';
}

export const NOT_FOUND =
  'gpucloud was not found. Install it in an earlier step, or give its path in the input "program".';
