import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** Left out of a copy: its own packages, history and results. */
const LEFT_OUT = ['node_modules', '.git', 'coverage'];
const CACHES = ['.vite', '.vite-temp', '.vitest', '.experimental-vitest-cache'];

/** Makes a copy of the tree that shares the installed packages, but not Vitest's cache there. */
export function copyTree(root) {
  const copy = mkdtempSync(join(tmpdir(), 'gpucloud-mutate-'));
  cpSync(root, copy, {
    recursive: true,
    filter: (path) => !LEFT_OUT.includes(relative(root, path)),
  });
  const packages = join(copy, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!CACHES.includes(name)) symlinkSync(join(root, 'node_modules', name), join(packages, name));
  return copy;
}

/** Puts faults into a copy, and returns a function that restores the source. */
export function putIn(copy, faults) {
  const sources = new Map();
  for (const { file, line, before, after } of [...faults].sort((a, b) => b.line - a.line)) {
    const path = join(copy, file);
    const source = readFileSync(path, 'utf8');
    if (!sources.has(path)) sources.set(path, source);
    const start =
      source
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length + (line > 1 ? 1 : 0);
    if (!source.startsWith(before, start)) throw new Error(`${file}:${line} has changed`);
    writeFileSync(path, source.slice(0, start) + after + source.slice(start + before.length));
  }
  return () => {
    for (const [path, source] of sources) writeFileSync(path, source);
  };
}

/** The folder for the temporary files of programs that run in a copy. */
export const scratchOf = (copy) => `${copy}.t`;

export function removeTree(copy) {
  for (const folder of [copy, scratchOf(copy)]) removeFolder(folder);
}

export function removeFolder(folder) {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // A killed test can leave a mounted disk.
    console.error(`could not remove ${folder}: ${error.message}`);
  }
}

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    for (const { pid } of running) process.kill(-pid, 'SIGKILL');
    process.exit(1);
  });

/** Runs a program in a copy. A program that takes too long is killed with all that it started. */
export function runIn(copy, argv, limitMs) {
  return new Promise((resolve, reject) => {
    // `nice` leaves the computer usable.
    const child = spawn('nice', argv, { cwd: copy, detached: true });
    running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      process.kill(-child.pid, 'SIGKILL');
    }, limitMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code, late, output });
    });
  });
}
