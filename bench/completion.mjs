// Measures what Tab costs in bash with 100 names: a thousand calls of the completion function
// with an empty PATH. Goal: 1 ms. Prints a table, or data with --json.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../completions/gpucloud.bash', import.meta.url));
const CALLS = 1000;
const ROUNDS = 5;
const GOAL_MS = 1;
const json = process.argv.includes('--json');

const LINES = [
  ['a command', 'gpucloud', 'inst'],
  ['a flag', 'gpucloud', 'instances', 'create', '--do'],
  ['a format', 'gpucloud', 'instances', 'list', '-o', ''],
  ['100 names, all match', 'gpucloud', 'instances', 'stop', ''],
  ['100 names, ten match', 'gpucloud', 'instances', 'stop', 'trainer-9'],
  [
    '100 names after other arguments',
    'gpucloud',
    '-o',
    'json',
    'instances',
    'stop',
    'trainer-1',
    '',
  ],
];

const TIMED = `
source "$1"; shift
calls=$1; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
COMP_POINT=\${#COMP_LINE}
PATH=
TIMEFORMAT='%3R %3U %3S'
{ time for ((call = 0; call < calls; call++)); do _gpucloud; done; } 2>&1
echo \${#COMPREPLY[@]}
`;

/** @param {number[]} numbers */
function median(numbers) {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

const folder = mkdtempSync(join(tmpdir(), 'gpucloud-bench-'));
try {
  const names = join(folder, 'cache', 'completion', 'names', 'work');
  mkdirSync(names, { recursive: true });
  const id = (at) => `${String(at).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const trainers = Array.from({ length: 100 }, (_, at) => `trainer-${at}`);
  const lines = trainers.map((name, at) => `instance\t${name}\t${id(at)}\tACTIVE`);
  const head = ['', ...trainers].join('\t');
  writeFileSync(join(names, 'instance.tsv'), `${[head, ...lines].join('\n')}\n`);
  const version = spawnSync('bash', ['-c', 'echo $BASH_VERSION'], { encoding: 'utf8' });
  const bash = version.stdout.trim();
  const rows = [];
  if (!json) console.log(`bash ${bash}, the median of ${ROUNDS} times ${CALLS} calls`);
  for (const [what, ...words] of LINES) {
    const times = [];
    let offered = '';
    for (let round = 0; round < ROUNDS; round++) {
      const { stdout, stderr } = spawnSync(
        'bash',
        ['--norc', '-c', TIMED, 'bash', script, String(CALLS), ...words],
        { encoding: 'utf8', env: { GPUCLOUD_STATE_DIR: folder, GPUCLOUD_PROFILE: 'work' } },
      );
      if (stderr !== '') throw new Error(stderr);
      const [real, user, system, count] = stdout.trim().split(/\s+/);
      // Seconds per thousand calls are milliseconds per call.
      times.push({ wall: Number(real), cpu: Number(user) + Number(system) });
      offered = count ?? '';
    }
    const wall = median(times.map((time) => time.wall));
    const cpu = median(times.map((time) => time.cpu));
    rows.push({ what, wall_ms: wall, cpu_ms: cpu, offered: Number(offered) });
    if (!json) {
      console.log(
        `${what.padEnd(30)} ${wall.toFixed(3)} ms, of the processor ${cpu.toFixed(3)} ms  (${offered} offered)`,
      );
    }
  }
  if (json)
    console.log(JSON.stringify({ bash, calls: CALLS, rounds: ROUNDS, goal_ms: GOAL_MS, rows }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
