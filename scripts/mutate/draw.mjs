import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asLines, faultsOf } from './faults.mjs';

/** Faults tried on one line before the line is left out. */
const TRIES = 5;

/** Returns a repeatable source of random numbers from 0 to 1 (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(items, random) {
  const result = [...items];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [result[at], result[other]] = [result[other], result[at]];
  }
  return result;
}

/** Mixes the faults of a line so that a rule with many faults comes no earlier than another. */
function inTurn(faults, random) {
  const rules = new Map();
  for (const fault of faults) rules.set(fault.rule, [...(rules.get(fault.rule) ?? []), fault]);
  const mixed = shuffled(rules.values(), random).map((some) => shuffled(some, random));
  const longest = Math.max(...mixed.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => mixed.flatMap((some) => some[at] ?? [])).flat();
}

/** Lists the source files in one order on every computer. */
export function sourceFiles(root, only = 'src') {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name.replaceAll('\\', '/')}`)
    .filter((name) => name === only || name.startsWith(`${only.replace(/\/$/, '')}/`))
    .sort();
}

/**
 * Draws lines that can have a fault, and one fault for each. `rejects` takes faults in different
 * files and returns those that the type check or the linter would find. A line whose faults are all
 * rejected is not drawn.
 */
export async function draw({ root, only, seed, count, rejects }) {
  const random = randomOf(seed);
  const lines = sourceFiles(root, only).flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    const byLine = new Map();
    for (const fault of faultsOf(source)) {
      const line = source.slice(0, fault.start).split('\n').length;
      byLine.set(line, [...(byLine.get(line) ?? []), fault]);
    }
    return [...byLine.values()].map((faults) => ({ file, source, faults }));
  });
  const order = shuffled(lines, random).map((each) => ({ ...each, order: random() }));
  const drawn = [];
  let at = 0;
  while (drawn.length < count && at < order.length) {
    // Each check takes seconds, so this checks more lines at once than it may need.
    const some = order.slice(at, at + Math.ceil(1.5 * (count - drawn.length)));
    at += some.length;
    drawn.push(...(await checked(some, rejects)));
  }
  return { lines: lines.length, drawn: drawn.slice(0, count) };
}

/** Returns the first fault of each line that is not rejected, in the order of the lines. */
async function checked(lines, rejects) {
  const open = lines.map(({ file, source, faults, order }) => ({
    file,
    faults: inTurn(faults, randomOf(order * 2 ** 32))
      .slice(0, TRIES)
      .map((fault) => ({ file, ...asLines(source, fault) })),
    found: undefined,
  }));
  for (;;) {
    // The check names files, so it takes one fault of each file at a time.
    const batch = new Map();
    for (const line of open)
      if (line.found === undefined && line.faults.length > 0 && !batch.has(line.file))
        batch.set(line.file, line);
    if (batch.size === 0) return open.flatMap(({ found }) => found ?? []);
    const faults = [...batch.values()].map((line) => line.faults[0]);
    const rejected = await rejects(faults);
    for (const line of batch.values()) {
      const fault = line.faults.shift();
      if (!rejected.has(fault)) line.found = fault;
    }
  }
}
