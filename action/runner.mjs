// Reads inputs from the GitHub runner, and writes outputs, state and errors for it.
import { randomBytes } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Variables that select the profile and the journal. */
export const SETTINGS = [
  ...['GPUCLOUD_BASE_URL', 'GPUCLOUD_PROFILE', 'GPUCLOUD_CONFIG_DIR', 'GPUCLOUD_STATE_DIR'],
  ...['HOME', 'XDG_CONFIG_HOME'],
];

/** Returns the folder of the journal, as gpucloud finds it (src/config/folders.ts). */
export function stateFolder({ GPUCLOUD_STATE_DIR: own, XDG_STATE_HOME: xdg = '' }) {
  if (own) return own;
  if (process.platform === 'darwin') {
    return join(homedir(), 'Library', 'Application Support', 'gpucloud', 'state');
  }
  return join(isAbsolute(xdg) ? xdg : join(homedir(), '.local', 'state'), 'gpucloud');
}

/** A file of main.mjs in the journal: without it, post.mjs has another journal, or an empty one. */
export function markOf(state, name) {
  return join(state, 'journal', `${encodeURIComponent(name)}.github-action`);
}

/**
 * Whether any account's journal names the instance. With the key of another account, gpucloud lists
 * no such instance. Throws for a file that can't be read.
 */
export function isRecorded(state, name) {
  const folder = join(state, 'journal');
  return readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith('.json'))
    .some((path) => readFileSync(join(folder, path), 'utf8').includes(JSON.stringify(name)));
}

/** Reads an input of the step; empty if not given. A variable typed on a web page contains CRLF. */
export function input(name) {
  return (process.env[`INPUT_${name.toUpperCase()}`] ?? '').replaceAll('\r\n', '\n').trim();
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
  // A second line would set another value.
  const line = String(value).replace(/[\r\n]+/g, ' ');
  appendFileSync(file, `${name}=${line}\n`);
}

/** Hides a value in the log of the whole job. */
export function mask(value) {
  process.stdout.write(`::add-mask::${escaped(value)}\n`);
}

/** Shows an error on the page of the run, and fails the step. */
export function fail(message) {
  process.stdout.write(`::error title=gpucloud::${escaped(message)}\n`);
  process.exitCode = 1;
}

function escaped(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/**
 * Keeps the runner from running workflow commands in the output that follows: a printed
 * `::save-state name=ended::true` would keep post.mjs from terminating. Returns a function that ends this.
 */
export function stopCommands() {
  const token = randomBytes(16).toString('hex');
  process.stdout.write(`::stop-commands::${token}\n`);
  return () => process.stdout.write(`::${token}::\n`);
}

export function program() {
  return input('program') || 'gpucloud';
}

export const NOT_FOUND =
  'gpucloud was not found. Install it in an earlier step, or set the input "program" to its path.';
