// Draws lines of the source, makes one plausible fault in each, and expects `npm test` to fail.
// npm run mutate -- --seed 41128 --lines 60 [--only src/money|src/money/spend.ts:42] [--jobs 2]
// --near: runs only the tests nearest to each fault, which takes minutes instead of an hour
// --again: judges the survivors of the last run, or those of --only, once more
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkIn } from './check.mjs';
import { draw, sourceFiles } from './draw.mjs';
import { judgeIn } from './judge.mjs';
import { nearestTests } from './nearest.mjs';
import { copyTree, removeTree } from './tree.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RESULTS = join(ROOT, 'coverage/mutate.json');
const EQUIVALENTS = JSON.parse(
  readFileSync(new URL('./equivalents.json', import.meta.url), 'utf8'),
);

/** Throws for a wrong option. */
function options() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Math.floor(Math.random() * 100_000)) },
      lines: { type: 'string', default: '20' },
      only: { type: 'string', default: 'src' },
      jobs: { type: 'string', default: '2' },
      near: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
    },
  });
  const number = (name, least) => {
    const value = Number(values[name]);
    if (!Number.isSafeInteger(value) || value < least)
      throw new Error(`--${name} must be a whole number from ${least}: ${values[name]}`);
    return value;
  };
  if (sourceFiles(ROOT, values.only.replace(/:\d+$/, '')).length === 0)
    throw new Error(`--only must be a file or folder of src, or FILE:LINE: ${values.only}`);
  if (values.again && !existsSync(RESULTS))
    throw new Error('--again needs the results of an earlier run');
  return {
    ...{ seed: number('seed', 0), lines: number('lines', 1), jobs: number('jobs', 1) },
    ...{ only: values.only, near: values.near, again: values.again },
  };
}

function reasonOf({ file, before, after }) {
  const equivalent = EQUIVALENTS.find(
    (each) => each.file === file && each.before === before.trim() && each.after === after.trim(),
  );
  return equivalent?.reason;
}

/** Shows what a fault changes, without the lines that stay the same. */
function shown({ before, after }) {
  const old = before.split('\n');
  const made = after.split('\n');
  while (old.length > 0 && made.length > 0 && old.at(-1) === made.at(-1)) {
    old.pop();
    made.pop();
  }
  const text = (lines) =>
    lines
      .map((line) => line.trim())
      .join(' ')
      .slice(0, 120);
  return `${text(old)}  →  ${text(made) || '(removed)'}`;
}

function describe(fault) {
  const by = fault.by === undefined ? '' : `\n    ${fault.by.slice(0, 160)}`;
  return `${fault.outcome.padEnd(10)} ${fault.file}:${fault.line} [${fault.rule}] ${shown(fault)}${by}`;
}

let given;
try {
  given = options();
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
const { seed, lines, only, jobs, near, again } = given;
const copies = Array.from({ length: jobs }, () => copyTree(ROOT));
process.on('exit', () => {
  for (const copy of copies) removeTree(copy);
});

let faults;
if (again) {
  faults = JSON.parse(readFileSync(RESULTS, 'utf8'));
} else {
  const { rejects, close } = checkIn(copies[0]);
  const isLeftOut = async (fault) => reasonOf(fault) !== undefined || (await rejects(fault));
  const { lines: all, drawn } = await draw({
    ...{ root: ROOT, only, seed, count: lines },
    rejects: isLeftOut,
  });
  close();
  console.log(`seed ${seed}: ${drawn.length} of ${all} lines that can have a fault`);
  faults = drawn;
}

for (const fault of faults) {
  const reason = reasonOf(fault);
  Object.assign(fault, reason === undefined ? {} : { outcome: 'equivalent', by: reason });
}

const judge = judgeIn(copies, nearestTests(ROOT));
function save() {
  mkdirSync(join(ROOT, 'coverage'), { recursive: true });
  writeFileSync(RESULTS, JSON.stringify(faults, undefined, 2));
}
save();
function note(fault, by) {
  Object.assign(fault, { outcome: by === undefined ? 'SURVIVED' : 'killed', by });
  console.log(describe(fault));
  save();
}
const open = () =>
  faults.filter(
    ({ outcome, file, line }) =>
      !['killed', 'equivalent'].includes(outcome) && `${file}:${line}`.startsWith(only),
  );
await judge.near(open(), note);
if (!near) {
  console.log(`\n${open().length} of ${faults.length} left for all of \`npm test\``);
  await judge.whole(open(), note);
}

const count = (outcome) => faults.filter((each) => each.outcome === outcome).length;
const survived = faults.filter(({ outcome }) => outcome === 'SURVIVED');
console.log(
  `\n${[...faults]
    .sort((a, b) => a.outcome.localeCompare(b.outcome))
    .map(describe)
    .join('\n')}`,
);
console.log(
  `\n${count('killed')} killed, ${count('equivalent')} equivalent, ${survived.length} survived`,
);
process.exitCode = survived.length === 0 ? 0 : 1;
