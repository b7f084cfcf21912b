// Compares how long programs take.
import { spawn, spawnSync } from 'node:child_process';

/** @param {readonly number[]} numbers */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Runs each command once per round, in turn, so that a slow computer slows them all.
 * Reports commands that fail, and leaves them out.
 *
 * @param {Record<string, {argv: readonly string[], env?: object, input?: string}>} commands the first
 *   is the floor
 * @returns {Record<string, {ms: number, ratio: number, of: (other: string) => number, more: (other: string) => number}>}
 *   medians: of the times, and of the ratios and the differences within a round
 */
export function race(commands, { rounds, env }) {
  const names = Object.keys(commands);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  const run = (name) => {
    const { input, ...command } = commands[name];
    const [file, ...argv] = command.argv;
    const start = process.hrtime.bigint();
    const { status, error, stderr } = spawnSync(file, argv, {
      env: { ...env, ...command.env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      ...(input === undefined ? {} : { input }),
      maxBuffer: 1e9,
    });
    const ms = Number(process.hrtime.bigint() - start) / 1e6;
    if (error !== undefined || status !== 0) {
      throw new Error(`${name} failed: ${error?.message ?? stderr.toString().slice(0, 300)}`);
    }
    return ms;
  };
  // Warms the code cache and the disk cache.
  for (const name of names) for (let time = 0; time < 3; time += 1) run(name);
  for (let round = 0; round < rounds; round += 1) {
    // Rotates the order, so that no command always follows the same other.
    for (const name of round % 2 === 0 ? names : [...names].reverse()) times[name].push(run(name));
  }
  const of = (name, other) => median(times[name].map((ms, round) => ms / times[other][round]));
  const more = (name, other) => median(times[name].map((ms, round) => ms - times[other][round]));
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        ms: median(times[name]),
        ratio: of(name, names[0]),
        of: (other) => of(name, other),
        more: (other) => more(name, other),
      },
    ]),
  );
}

/**
 * Runs a command whose output goes through a pipe to nowhere, and returns its time, its peak
 * memory (NaN if it prints none) and the number of lines.
 */
export async function runLong([file, ...argv], env) {
  const start = process.hrtime.bigint();
  const child = spawn(file, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let lines = 0;
  let peak = Number.NaN;
  child.stdout.on('data', (chunk) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    told += text;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  told = told.replace(/^peak (\d+)\n/m, (_all, kilobytes) => {
    peak = Number(kilobytes) / 1024;
    return '';
  });
  if (code !== 0) throw new Error(`${argv.join(' ')} failed (${code}): ${told.slice(0, 300)}`);
  return { ms, mib: peak, lines };
}
