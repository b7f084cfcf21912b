// npm run bench: prints every speed goal with its figure. See docs/internals/performance.md.
//   --json    prints the figures as JSON
//   --write   puts the table into docs/internals/performance.md
//   --quick   fewer rounds, and a tenth of the rows
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { race, runLong } from './measure.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const PROGRAM = here('../bin/gpucloud.js');
/** The other form of the program. */
const EXECUTABLE = here('../dist/exe/gpucloud');
const NODE = process.execPath;
const flags = process.argv.slice(2);
const quick = flags.includes('--quick');
const ROUNDS = quick ? 7 : 41;
const MANY = quick ? 10_000 : 100_000;
const MOST = quick ? 100_000 : 1_000_000;
/** The page size that is requested; without --limit gpucloud requests a smaller one. */
const LARGE_PAGE = 5000;
const PAGE = 100;
/** The number of rounds for slow commands. */
const RUNS = quick ? 1 : 3;
const ID = '11111111-2222-4333-8444-555555555555';
const INSTANCES = 200;
const WAIT_MS = 250;

const folder = mkdtempSync(join(tmpdir(), 'gpucloud-bench-'));
/** Excludes the developer's settings; NODE_EXTRA_CA_CERTS alone would triple the floor on Node 20. */
const ENV = {
  PATH: process.env.PATH,
  HOME: folder,
  GPUCLOUD_CONFIG_DIR: join(folder, 'config'),
  GPUCLOUD_STATE_DIR: join(folder, 'state'),
  NO_COLOR: '1',
};
// The certificate is self-signed. On Node 20, reading it takes longer than the request.
const TRUSTING = { NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') };

const rows = [];
/** A figure without a goal is only reported. */
function row(what, figure, unit, goal, note = '') {
  const isJudged = goal !== undefined && !Number.isNaN(figure);
  const pass = isJudged ? figure <= goal : undefined;
  rows.push({ what, figure, unit, ...(goal === undefined ? {} : { goal, pass }), note });
}

function has(program, ...argv) {
  return spawnSync(program, argv, { stdio: 'ignore', env: ENV }).status === 0;
}

/** Profiles written by hand, so that only the measured command runs. */
function profiles(services) {
  mkdirSync(ENV.GPUCLOUD_CONFIG_DIR, { recursive: true, mode: 0o700 });
  const profile = (base_url) => ({
    base_url,
    api_key: 'svc_sk_bench_0123456789abcdef',
    account: { id: 'bench' },
  });
  const all = Object.entries(services).map(([name, base_url]) => [name, profile(base_url)]);
  writeFileSync(
    join(ENV.GPUCLOUD_CONFIG_DIR, 'config.json'),
    JSON.stringify({ current: 'http', profiles: Object.fromEntries(all) }),
    { mode: 0o600 },
  );
}

function certificate() {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = has(
    'openssl',
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-subj', '/CN=localhost', '-days', '2', '-keyout', key, '-out', cert],
  );
  return made ? [key, cert] : [];
}

async function startService() {
  const child = spawn(NODE, [here('service.mjs'), ...certificate()], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: ENV.PATH },
  });
  const line = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', resolve);
    child.once('exit', () => reject(new Error('the service did not start')));
  });
  return { ports: JSON.parse(line), child };
}

const gpucloud = (...argv) => ({ argv: [NODE, PROGRAM, ...argv] });
const measured = (...argv) => [NODE, '-r', here('peak.cjs'), PROGRAM, ...argv];

const executable = (...argv) => ({ argv: [EXECUTABLE, ...argv] });
/** The executable loads no other script, so a parent process asks the system. */
const measuredExecutable = (...argv) => [
  ...(has('python3', '-c', '') ? ['python3', here('peak.py')] : []),
  EXECUTABLE,
  ...argv,
];

/** Uses {@link runLong}, and returns the run with the median time. */
async function long(argv, runs = 1) {
  const all = [];
  for (let run = 0; run < runs; run += 1) all.push(await runLong(argv, ENV));
  return all.sort((one, other) => one.ms - other.ms)[Math.floor(runs / 2)];
}

function startUp() {
  const peers = {
    ...(has('hcloud', 'context', 'list')
      ? { 'hcloud context list': { argv: ['hcloud', 'context', 'list'] } }
      : {}),
    ...(has('gh', '--version') ? { 'gh --version': { argv: ['gh', '--version'] } } : {}),
  };
  const { floor, version, help, group, exeVersion, exeHelp, exeGroup, ...others } = race(
    {
      floor: { argv: [NODE, '-e', '0'] },
      version: gpucloud('--version'),
      help: gpucloud('--help'),
      group: gpucloud('instances', '--help'),
      exeVersion: executable('--version'),
      exeHelp: executable('--help'),
      exeGroup: executable('instances', '--help'),
      ...peers,
    },
    { rounds: ROUNDS, env: ENV },
  );
  row('node -e 0', floor.ms, 'ms');
  row('--version', version.ratio, '× floor', 1.1, `${version.ms.toFixed(1)} ms`);
  row('--help', help.ratio, '× floor', 1.5, `${help.ms.toFixed(1)} ms`);
  row('instances --help', group.ratio, '× floor', 1.5, `${group.ms.toFixed(1)} ms`);
  for (const [name, { ms, ratio }] of [
    ['--version', exeVersion],
    ['--help', exeHelp],
    ['instances --help', exeGroup],
  ]) {
    row(`${name}, executable`, ratio, '× floor', 0.5, `${ms.toFixed(1)} ms`);
  }
  for (const [name, { ms, ratio }] of Object.entries(others)) {
    row(name, ratio, '× floor', undefined, `${ms.toFixed(1)} ms`);
  }
}

async function oneRequest(ports) {
  const url = (scheme) => `${scheme}://127.0.0.1:${ports[scheme]}/rows=0/instances/${ID}`;
  const get = gpucloud('instances', 'get', ID, '--json');
  const peers = {
    ...(has('curl', '--version') ? { curl: { argv: ['curl', '-s', url('http')] } } : {}),
    ...(has('hcloud', 'context', 'list')
      ? {
          'hcloud server describe': {
            argv: ['hcloud', 'server', 'describe', '1', '-o', 'json'],
            env: {
              HCLOUD_TOKEN: 'x'.repeat(64),
              HCLOUD_ENDPOINT: `http://127.0.0.1:${ports.http}/rows=0/v1`,
            },
          },
        }
      : {}),
  };
  const { floor, ours, exe, ...others } = race(
    {
      floor: { argv: [NODE, '-e', '0'] },
      'GET by a minimal client, http': { argv: [NODE, here('get.cjs'), url('http')] },
      ours: get,
      exe: executable('instances', 'get', ID, '--json'),
      ...peers,
    },
    { rounds: ROUNDS, env: ENV },
  );
  const { mib } = await long(measured('instances', 'get', ID, '--json'), 3);
  row('instances get --json, http', ours.ratio, '× floor', 2.5, `${ours.ms.toFixed(1)} ms`);
  row('instances get --json, http, memory', mib, 'MiB', 60);
  row(
    'instances get --json, http, executable',
    exe.ratio,
    '× floor',
    1.5,
    `${exe.ms.toFixed(1)} ms`,
  );
  const ofExecutable = await long(measuredExecutable('instances', 'get', ID, '--json'), 3);
  row('instances get --json, http, executable, memory', ofExecutable.mib, 'MiB', 90);
  for (const [name, { ms, ratio }] of Object.entries(others)) {
    row(name, ratio, '× floor', undefined, `${ms.toFixed(1)} ms`);
  }
  if (ports.https === undefined) {
    row('instances get --json, https', Number.NaN, '× floor', undefined, 'needs openssl');
    return;
  }
  const secure = race(
    {
      floor: { argv: [NODE, '-e', '0'] },
      bare: { argv: [NODE, here('get.cjs'), url('https')], env: TRUSTING },
      ours: { ...gpucloud('instances', 'get', ID, '--json', '--profile', 'https'), env: TRUSTING },
      exe: { ...executable('instances', 'get', ID, '--json', '--profile', 'https'), env: TRUSTING },
    },
    { rounds: ROUNDS, env: ENV },
  );
  for (const [name, { ms, ratio }] of [
    ['instances get --json, https', secure.ours],
    ['instances get --json, https, executable', secure.exe],
    ['GET by a minimal client, https', secure.bare],
  ]) {
    row(name, ratio, '× floor', undefined, `${ms.toFixed(1)} ms`);
  }
}

/** The hidden command that completion scripts run at each Tab, with 100 known instances. */
function tabs() {
  const known = join(ENV.GPUCLOUD_STATE_DIR, 'journal', 'tab.example', 'bench', 'instances');
  mkdirSync(known, { recursive: true, mode: 0o700 });
  for (let at = 0; at < 100; at += 1) {
    const id = `${String(at).padStart(8, '0')}-0000-4000-8000-000000000000`;
    const last = { id, name: `trainer-${at}`, status: 'ACTIVE', seen_at: '2026-01-01T00:00:00Z' };
    const record = { version: 1, ...last, origin: 'create', known_at: last.seen_at, last };
    writeFileSync(join(known, `${id}.json`), JSON.stringify({ ...record, request: null }));
  }
  const tab = (...words) => gpucloud('__complete', 'zsh', ...words);
  const lines = {
    'a command': tab('inst'),
    'a flag': tab('instances', 'create', '--do'),
    'a format': tab('instances', 'list', '-o', ''),
    '100 names': tab('--profile', 'tab', 'instances', 'stop', ''),
  };
  const figures = race({ version: gpucloud('--version'), ...lines }, { rounds: ROUNDS, env: ENV });
  for (const name of Object.keys(lines)) {
    const { ms, ratio } = figures[name];
    row(`Tab on ${name}`, ratio, '× --version', 2, `${ms.toFixed(1)} ms`);
  }
}

/** A whole session that only lists the tools. */
function agent() {
  const clientInfo = { name: 'bench', version: '1' };
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const messages = [
    { id: 1, method: 'initialize', params: hello },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
  ];
  const input = messages.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join('');
  const { tools } = race(
    { version: gpucloud('--version'), tools: { ...gpucloud('mcp'), input } },
    { rounds: ROUNDS, env: ENV },
  );
  row('mcp, tools/list', tools.ratio, '× --version', 3, `${tools.ms.toFixed(1)} ms`);
}

/** Many rows, beside a client that only reads the same pages: no figure can be lower. */
async function manyRows(floorMs, url) {
  const history = ['billing', 'transactions', '--all'];
  const bare = (rows, limit, runs) =>
    long(
      [
        NODE,
        '-r',
        here('peak.cjs'),
        here('pages.cjs'),
        url(rows),
        String(rows / limit),
        String(limit),
      ],
      runs,
    );
  const seconds = (ms) => (ms - floorMs) / 1000;
  const least = await bare(MANY, LARGE_PAGE, RUNS);
  row(`${MANY} transactions, minimal client`, seconds(least.ms), 's over the floor');
  for (const format of ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'id']) {
    const command = measured(
      ...[...history, '--limit', String(LARGE_PAGE), '--profile', 'many', '-o', format],
    );
    // Runs once before, so that its code is cached.
    await long(command);
    const { ms, mib, lines } = await long(command, RUNS);
    if (lines < MANY) throw new Error(`-o ${format}: ${lines} lines`);
    const goal = format === 'table' ? 3 : undefined;
    const note = `${seconds(ms).toFixed(2)} s over the floor, ${mib.toFixed(0)} MiB`;
    row(
      `${MANY} transactions, -o ${format}`,
      seconds(ms) / seconds(least.ms),
      '× minimal client',
      goal,
      note,
    );
  }
  const words = [...history, '--limit', String(LARGE_PAGE), '--profile', 'many'];
  const table = await long(executable(...words).argv, RUNS);
  const { mib: tableMib } = await long(measuredExecutable(...words));
  row(
    `${MANY} transactions, -o table, executable`,
    seconds(table.ms) / seconds(least.ms),
    '× minimal client',
    3,
    `${seconds(table.ms).toFixed(2)} s over the floor${Number.isNaN(tableMib) ? '' : `, ${tableMib.toFixed(0)} MiB`}`,
  );
  const tenth = await long(measured(...history, '--profile', 'tenth', '-o', 'jsonl'));
  row(`${MOST / 10} transactions, -o jsonl, memory`, tenth.mib, 'MiB');
  const { ms, mib, lines } = await long(measured(...history, '--profile', 'most', '-o', 'jsonl'));
  if (lines !== MOST) throw new Error(`${lines} of ${MOST} lines`);
  const pages = await bare(MOST, PAGE, 1);
  row(
    `${MOST} transactions, -o jsonl, memory`,
    mib,
    'MiB',
    100,
    `${seconds(ms).toFixed(1)} s; minimal client: ${seconds(pages.ms).toFixed(1)} s and ${pages.mib.toFixed(0)} MiB`,
  );
  const most = await long(measuredExecutable(...history, '--profile', 'most', '-o', 'jsonl'));
  row(
    `${MOST} transactions, -o jsonl, executable, memory`,
    most.mib,
    'MiB',
    100,
    `${seconds(most.ms).toFixed(1)} s`,
  );
}

async function manyInstances() {
  const id = (at) => `${String(at).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const ids = Array.from({ length: INSTANCES }, (_, at) => id(at));
  const farAway = { ...ENV, GPUCLOUD_CONFIG_DIR: join(folder, 'far') };
  for (const env of [ENV, farAway]) {
    const tracked = spawnSync(NODE, [PROGRAM, 'instances', 'track', ...ids], { env });
    if (tracked.status !== 0) throw new Error(tracked.stderr.toString());
  }
  const { near, far } = race(
    {
      near: gpucloud('instances', 'list'),
      far: { ...gpucloud('instances', 'list'), env: farAway },
    },
    { rounds: quick ? 3 : 11, env: ENV },
  );
  const note = `${near.ms.toFixed(0)} ms without waiting, ${far.ms.toFixed(0)} ms with responses after ${WAIT_MS} ms`;
  row(`instances list, ${INSTANCES} known`, far.more('near') / WAIT_MS, 'round trips', 2.5, note);
}

function tableText() {
  const figure = ({ figure, unit }) =>
    Number.isNaN(figure) ? 'not measured' : `${figure.toFixed(figure < 10 ? 2 : 0)} ${unit}`;
  const lines = rows.map((one) => [
    one.what,
    figure(one),
    one.goal === undefined ? '' : String(one.goal),
    one.pass === undefined ? '' : one.pass ? 'pass' : 'FAIL',
    one.note,
  ]);
  const all = [
    ['measurement', 'figure', 'goal', 'result', 'details'],
    ['---', '---', '---', '---', '---'],
    ...lines,
  ];
  const widths = all[0].map((_, at) => Math.max(...all.map((line) => line[at].length)));
  return all
    .map((line) => `| ${line.map((text, at) => text.padEnd(widths[at])).join(' | ')} |`)
    .join('\n');
}

const started = Date.now();
const load = loadavg()[0] ?? 0;
if (load > 0.7) {
  process.stderr.write(
    `The computer is busy (load ${load.toFixed(1)}): figures will be too high.\n`,
  );
}
const { ports, child } = await startService();
try {
  const at = (scheme, how) => `${scheme}://127.0.0.1:${ports[scheme]}/${how}`;
  const services = {
    http: at('http', 'rows=0'),
    https: at('https', 'rows=0'),
    many: at('http', `rows=${MANY}`),
    tenth: at('http', `rows=${MOST / 10}`),
    most: at('http', `rows=${MOST}`),
    tab: 'https://tab.example',
  };
  profiles(services);
  startUp();
  await oneRequest(ports);
  tabs();
  agent();
  await manyRows(rows[0].figure, (count) => at('http', `rows=${count}`));
  // The same account, with slower responses.
  const far = JSON.parse(readFileSync(join(ENV.GPUCLOUD_CONFIG_DIR, 'config.json'), 'utf8'));
  far.profiles.http.base_url = at('http', `wait=${WAIT_MS}`);
  mkdirSync(join(folder, 'far'), { mode: 0o700 });
  writeFileSync(join(folder, 'far', 'config.json'), JSON.stringify(far), { mode: 0o600 });
  await manyInstances();
} finally {
  child.stdin.end();
  rmSync(folder, { recursive: true, force: true });
}

const computer = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${ROUNDS} rounds, ${Math.round((Date.now() - started) / 1000)} s`;
if (flags.includes('--json')) {
  process.stdout.write(
    `${JSON.stringify({ computer, node: process.version, load, rows }, null, 2)}\n`,
  );
} else {
  process.stdout.write(`${tableText()}\n\n${computer}\n`);
}
if (flags.includes('--write')) {
  const page = here('../docs/internals/performance.md');
  const text = readFileSync(page, 'utf8');
  const figures = `<!-- figures -->\n${tableText()}\n\n${computer}\n<!-- end -->`;
  writeFileSync(
    page,
    text.replace(/<!-- figures -->[\s\S]*<!-- end -->/, () => figures),
  );
}
if (rows.some(({ pass }) => pass === false)) process.exitCode = 1;
