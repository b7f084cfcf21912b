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
 * Draws lines that can have a fault, and one fault for each. `rejects` says whether a fault is none:
 * the type check or the linter finds it, or nobody can. A line whose faults are all rejected is not
 * drawn. `only` can name one line: `src/a.ts:7`.
 */
export async function draw({ root, only = 'src', seed, count, rejects }) {
  const random = randomOf(seed);
  const [folder, one] = only.split(':');
  const lines = sourceFiles(root, folder).flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    const byLine = new Map();
    for (const fault of faultsOf(source)) {
      const line = source.slice(0, fault.start).split('\n').length;
      byLine.set(line, [...(byLine.get(line) ?? []), fault]);
    }
    return [...byLine]
      .filter(([line]) => one === undefined || line === Number(one))
      .map(([, faults]) => ({ file, source, faults }));
  });
  const order = shuffled(lines, random).map((each) => ({ ...each, order: random() }));
  const drawn = [];
  for (const line of order) {
    if (drawn.length === count) break;
    const fault = await firstAccepted(line, rejects);
    if (fault !== undefined) drawn.push(fault);
  }
  return { lines: lines.length, drawn };
}

async function firstAccepted({ file, source, faults, order }, rejects) {
  for (const fault of inTurn(faults, randomOf(order * 2 ** 32)).slice(0, TRIES)) {
    const whole = { file, ...asLines(source, fault) };
    if (!(await rejects(whole))) return whole;
  }
  return undefined;
}
