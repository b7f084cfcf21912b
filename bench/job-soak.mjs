// Drives jobs on the sandbox for a while, and prints figures. Not part of `npm test`.
//
//   node bench/job-soak.mjs kills [COUNT]    kill -9 of `run` over all its stages, then `reap`
//   node bench/job-soak.mjs readers [COUNT]  `jobs logs -f` and `jobs attach` under signals
//   node bench/job-soak.mjs links [MINUTES]  a link that is cut every 20 s, and a reader that stops
//
// Needs `npm run build`, ssh and ssh-keygen.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = new URL('../bin/gpucloud.js', import.meta.url).pathname;
const [, , what = 'kills', given] = process.argv;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'];
const HARDWARE = ['--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--ssh-key', 'soak'];

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const faults = [];
function check(isRight, text) {
  if (!isRight) faults.push(text);
}

/** A computer with its own sandbox. */
function createComputer() {
  const home = mkdtempSync(join(tmpdir(), 'gpucloud-soak-'));
  mkdirSync(join(home, '.ssh'), { mode: 0o700 });
  execFileSync('ssh-keygen', [
    '-q',
    '-t',
    'ed25519',
    '-N',
    '',
    '-f',
    join(home, '.ssh/id_ed25519'),
  ]);
  mkdirSync(join(home, 'project'));
  writeFileSync(join(home, 'project', 'in'), Buffer.alloc(3_000_000, 'x'));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    GPUCLOUD_PROFILE: 'sandbox',
    GPUCLOUD_STATE_DIR: join(home, 'state'),
    GPUCLOUD_CONFIG_DIR: join(home, 'config'),
  };
  const start = (argv, stdio = ['ignore', 'pipe', 'pipe']) =>
    spawn(process.execPath, [PROGRAM, ...argv], { cwd: home, env, stdio });
  async function gpucloud(...argv) {
    const child = start(argv);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const [code] = await once(child, 'close');
    return { code, stdout, stderr };
  }
  const json = async (...argv) => JSON.parse((await gpucloud(...argv, '--json')).stdout || '[]');
  return {
    home,
    start,
    gpucloud,
    json,
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** The processes of commands that still run in a folder. */
function processesIn(folder) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`HOME=${folder}`);
      } catch {
        return false;
      }
    });
}

const STAGES = [
  'Renting',
  'Starting',
  'Connecting',
  'Copying',
  'Running',
  'Fetching',
  'Terminating',
];

/** Resolves once the program has printed a line with this start to stderr. */
function heard(child, line) {
  return new Promise((resolve) => {
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (more) => {
      text += more;
      if (text.includes(`${line} `)) resolve();
    });
  });
}

/** Kills `run` at each moment, and checks what the next pass of `reap` makes of it. */
async function kills(count) {
  const { home, start, gpucloud, json, remove } = createComputer();
  await gpucloud('ssh-keys', 'add', '--name', 'soak', join(home, '.ssh/id_ed25519.pub'));
  const command = 'echo begun >>../../ran; mkdir out; cp in out/; sleep 1; echo done; exit 3';
  const job = (name) => [
    ...['run', ...HARDWARE, '--name', name, '--terminate-after', '1h', '--unenforced'],
    ...['--sync', 'project', '--fetch', `out:${join(home, name)}`, '--', 'sh', '-c', command],
  ];
  const stages = {};
  const outcomes = {};
  for (let at = 0; at < count; at += 1) {
    const name = `kill-${at}`;
    const child = start(job(name));
    const ended = once(child, 'close');
    child.stdout.resume();
    // Up to 0.6 s after the line of a stage.
    const line = STAGES[at % STAGES.length];
    await Promise.race([heard(child, line), ended]);
    await Promise.race([pause((600 * at) / count), ended]);
    child.kill('SIGKILL');
    await ended;
    const [listed] = (await json('jobs', 'list')).filter((one) => one.name === name);
    const stage = listed?.phase ?? 'none';
    stages[stage] = (stages[stage] ?? 0) + 1;
    const first = await gpucloud('instances', 'reap', '--json');
    let rows = JSON.parse(first.stdout || '[]').filter((row) => row.name === name);
    const isRunning = rows.length === 0;
    if (isRunning) {
      // The command still runs, or nothing was rented.
      await pause(1_500);
      const again = await gpucloud('instances', 'reap', '--json');
      rows = JSON.parse(again.stdout || '[]').filter((row) => row.name === name);
    }
    const outcome = rows.map((row) => `${row.outcome} ${row.exit_code}`).join() || 'nothing';
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    const living = (await json('instances', 'list')).filter(
      (one) => one.name === name && !/TERMINAT/.test(one.status),
    );
    const unknown = living.filter(({ status }) => status === 'UNKNOWN');
    check(living.length === unknown.length, `${name} (${stage}): still ${JSON.stringify(living)}`);
    const [after] = (await json('jobs', 'list')).filter((one) => one.name === name);
    check(
      after === undefined || after.ended_at !== null || unknown.length > 0,
      `${name} (${stage}): its job is open: ${JSON.stringify(after)}`,
    );
    if (after?.exit_code === 3) {
      const isWhole =
        existsSync(join(home, name, 'in')) &&
        readFileSync(join(home, name, 'in')).length === 3_000_000;
      check(isWhole, `${name} (${stage}): results are missing`);
    }
    process.stderr.write(`${name}: ${stage} -> ${outcome}\n`);
  }
  remove();
  return { moments: count, stages, outcomes };
}

/** Reads a running job again and again, and ends each reader with a signal. */
async function readers(count) {
  const { home, start, gpucloud, json, remove } = createComputer();
  await gpucloud('ssh-keys', 'add', '--name', 'soak', join(home, '.ssh/id_ed25519.pub'));
  const command =
    'i=0; while [ ! -f stop ]; do i=$((i+1)); echo line $i; sleep 0.05; done; echo $i >last; exit 4';
  const detached = await gpucloud(
    ...[
      'run',
      ...HARDWARE,
      '--name',
      'readers',
      '--terminate-after',
      '6h',
      '--unenforced',
      '--detach',
    ],
    ...['--fetch', `last:${join(home, 'last')}`, '--', 'sh', '-c', command],
  );
  check(detached.code === 0, detached.stderr);
  const codes = {};
  let unreachable = 0;
  for (let at = 0; at < count; at += 1) {
    const words = at % 2 === 0 ? ['jobs', 'logs', 'readers', '-f'] : ['jobs', 'attach', 'readers'];
    const child = start(words);
    const ended = once(child, 'close');
    if (at % 5 !== 4) child.stdout.resume();
    child.stderr.resume();
    await Promise.race([pause(300 + (at % 10) * 200), ended]);
    const signal = SIGNALS[at % SIGNALS.length];
    child.kill(signal);
    if (at % 5 === 4) setTimeout(() => child.stdout.resume(), 2_000);
    const [code, by] = await ended;
    const key = `${words[1]} ${signal}: ${code ?? by}`;
    codes[key] = (codes[key] ?? 0) + 1;
    const [listed] = await json('jobs', 'list');
    // A loaded computer may not sign in within the 5 s of `jobs list`.
    if (listed?.status === 'UNREACHABLE') unreachable += 1;
    else check(listed?.status === 'RUNNING', `after ${at} ${key}: ${JSON.stringify(listed)}`);
    process.stderr.write(`${at}: ${key}\n`);
  }
  const [box] = readdirSync(join(home, 'state'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isDirectory() && one.name === 'work')
    .map((one) => join(one.parentPath ?? one.path, one.name));
  writeFileSync(join(box, 'stop'), '');
  const attached = await gpucloud('jobs', 'attach', 'readers');
  check(attached.code === 4, `attach exited with ${attached.code}: ${attached.stderr}`);
  const kept = await gpucloud('jobs', 'logs', 'readers');
  const last = Number(readFileSync(join(home, 'last'), 'utf8'));
  const lines = kept.stdout.trimEnd().split('\n');
  const isWhole =
    lines.length === last && lines.every((line, index) => line === `line ${index + 1}`);
  check(isWhole, `the kept output has ${lines.length} of ${last} lines`);
  check(processesIn(home).length === 0, `processes are left: ${processesIn(home)}`);
  remove();
  return { cycles: count, lines: last, unreachable, codes };
}

/** Follows a job over a link that is cut every 20 s, with a reader that stops for a minute. */
async function links(minutes) {
  const { home, start, gpucloud, json, remove } = createComputer();
  await gpucloud('ssh-keys', 'add', '--name', 'soak', join(home, '.ssh/id_ed25519.pub'));
  const end = minutes * 60;
  const command = `i=0; t=$(($(date +%s) + ${end})); while [ $(date +%s) -lt $t ]; do i=$((i+1)); echo line $i; echo err $i >&2; sleep 0.02; done; mkdir out; echo $i >out/last; exit 5`;
  const child = start([
    ...['run', ...HARDWARE, '--name', 'links', '--terminate-after', '6h', '--unenforced'],
    ...['--fetch', `out:${join(home, 'out')}`, '--', 'sh', '-c', command],
  ]);
  const ended = once(child, 'close');
  let [stdout, cuts, peak] = ['', 0, 0];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  let isOver = false;
  void ended.then(() => (isOver = true));
  const began = performance.now();
  for (let round = 0; !isOver; round += 1) {
    await Promise.race([pause(20_000), ended]);
    if (isOver) break;
    // Each connection is an ssh that the run has started.
    for (const pid of processesIn(home)) {
      try {
        if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'ssh') continue;
        process.kill(Number(pid), 'SIGKILL');
        cuts += 1;
      } catch {
        // It has just ended.
      }
    }
    const memory = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
    peak = Math.max(peak, Number(memory?.[1] ?? 0));
    // The reader stops for a minute in each three.
    if (round % 9 === 3) child.stdout.pause();
    if (round % 9 === 6) child.stdout.resume();
  }
  child.stdout.resume();
  const [code] = await ended;
  check(code === 5, `run exited with ${code}: ${stderr.slice(-2_000)}`);
  const last = Number(readFileSync(join(home, 'out', 'last'), 'utf8'));
  const lines = stdout.trimEnd().split('\n');
  const isWhole =
    lines.length === last && lines.every((line, index) => line === `line ${index + 1}`);
  check(isWhole, `stdout has ${lines.length} of ${last} lines`);
  const errors = stderr.split('\n').filter((line) => /^err \d+$/.test(line));
  check(errors.length === last, `stderr has ${errors.length} of ${last} lines`);
  const [listed] = await json('instances', 'list');
  check(/TERMINAT/.test(listed?.status), `the instance is ${listed?.status}`);
  remove();
  return {
    minutes: Math.round((performance.now() - began) / 60_000),
    cuts,
    lines: last,
    peakMiB: Math.round(peak / 1024),
  };
}

const runs = {
  kills: () => kills(Number(given ?? 60)),
  readers: () => readers(Number(given ?? 100)),
  links: () => links(Number(given ?? 30)),
};
const figures = await runs[what]();
console.log(JSON.stringify({ what, ...figures, faults }, null, 2));
process.exitCode = faults.length > 0 ? 1 : 0;
