// Runs `gpucloud run` with the inputs of the step. post.mjs terminates the instance if this is killed.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  fail,
  input,
  linesOf,
  markOf,
  mask,
  NOT_FOUND,
  program,
  SETTINGS,
  saveState,
  setOutput,
  stateFolder,
  stopCommands,
} from './runner.mjs';

const ONCE = ['offer', 'image', 'identity', 'max-price', 'terminate-after', 'sync'];
const REPEATED = ['ssh-key', 'fetch'];

/** Exit codes that prove, without a report, that nothing was sent: usage, no key, no connection. */
const NOTHING_SENT = [2, 4, 6];

const { GITHUB_RUN_ID = 'run', RUNNER_TEMP = tmpdir(), GPUCLOUD_API_KEY: key } = process.env;
// The random suffix keeps post.mjs from terminating an instance that another job rented.
const name = `${input('name') || `ci-${GITHUB_RUN_ID}`}-${randomBytes(4).toString('hex')}`;
const report = join(RUNNER_TEMP, `${name}.json`);

function wordsOfRun() {
  const flags = [
    ...ONCE.map((flag) => [flag, input(flag)]),
    ...REPEATED.flatMap((flag) => linesOf(input(flag)).map((value) => [flag, value])),
    ...linesOf(input('env')).map((variable) => ['pass-env', variable]),
  ].filter(([, value]) => value !== '');
  const command = input('command');
  return [
    ...['run', '--name', name, '--report', report, '--unenforced'],
    ...flags.map(([flag, value]) => `--${flag}=${value}`),
    ...(command === '' ? [] : ['--', 'sh', '-ec', command]),
  ];
}

/** Reads the report. A run that ends before it tries to rent doesn't write a report. */
function reportOf() {
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
}

/**
 * Makes and marks the journal, so that post.mjs notices if a later step deletes it or selects another.
 */
function marked(state) {
  mkdirSync(join(state, 'journal'), { recursive: true, mode: 0o700 });
  writeFileSync(markOf(state, name), '', { mode: 0o600 });
}

/** Records that post.mjs has nothing to terminate. */
function saveEnded() {
  saveState('ended', 'true');
  rmSync(markOf(env.GPUCLOUD_STATE_DIR, name), { force: true });
}

// Saves the name before it rents anything, since this process can be killed at any time.
const env = { ...process.env, GPUCLOUD_STATE_DIR: stateFolder(process.env) };
// Saves these variables: a later step may change them, and post.mjs would read another journal.
saveState('settings', JSON.stringify(Object.fromEntries(SETTINGS.map((one) => [one, env[one]]))));
saveState('name', name);
setOutput('name', name);

try {
  marked(env.GPUCLOUD_STATE_DIR);
} catch (error) {
  saveState('ended', 'true');
  fail(`The folder of the journal can't be written, so nothing was rented: ${error.message}`);
  process.exit();
}
if (key) mask(key);
const resumeCommands = stopCommands();
const child = spawn(program(), wordsOfRun(), { env, stdio: ['ignore', 'inherit', 'inherit'] });

// A cancelled job has about ten seconds, too short to copy results. The runner sends SIGINT
// and later SIGTERM. A second signal would make gpucloud drop a request that may rent.
let isForwarded = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    if (!isForwarded) child.kill('SIGTERM');
    isForwarded = true;
  });
}

child.on('error', (error) => {
  // Without a process, nothing was sent.
  if (child.pid === undefined) saveEnded();
  resumeCommands();
  fail(error.code === 'ENOENT' ? NOT_FOUND : `gpucloud could not be started: ${error.message}`);
});

child.on('exit', (code) => {
  const written = reportOf();
  setOutput('instance-id', written?.instance?.id ?? '');
  setOutput('exit-code', code ?? '');
  setOutput('cost', written?.cost ?? written?.cost_at_most ?? '');
  const isEnded =
    written === undefined
      ? NOTHING_SENT.includes(code)
      : written.instance === null || written.terminated === true;
  if (isEnded) saveEnded();
  process.exitCode = code ?? 1;
});
