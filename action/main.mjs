// Runs `gpucloud run` with the inputs of the step. post.mjs terminates the instance if this is killed.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  fail,
  input,
  linesOf,
  mask,
  NOT_FOUND,
  program,
  saveState,
  setOutput,
  stopCommands,
} from './runner.mjs';

const ONCE = ['offer', 'image', 'identity', 'max-price', 'terminate-after', 'sync'];
const REPEATED = ['ssh-key', 'fetch'];

/** Variables that select the journal. An empty variable counts as not set. */
const SETTINGS = ['BASE_URL', 'PROFILE', 'CONFIG_DIR', 'STATE_DIR'].map(
  (name) => `GPUCLOUD_${name}`,
);

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

/** Saves the variables of this step: a later step may change them, and post.mjs would read another journal. */
function settings() {
  return JSON.stringify(Object.fromEntries(SETTINGS.map((one) => [one, process.env[one] ?? ''])));
}

// Saves the name before it rents anything, since this process can be killed at any time.
saveState('settings', settings());
saveState('name', name);
setOutput('name', name);

if (key) mask(key);
const resumeCommands = stopCommands();
const child = spawn(program(), wordsOfRun(), { stdio: ['ignore', 'inherit', 'inherit'] });

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
  if (child.pid === undefined) saveState('ended', 'true');
  resumeCommands();
  fail(error.code === 'ENOENT' ? NOT_FOUND : `gpucloud could not be started: ${error.message}`);
});

child.on('exit', (code) => {
  const written = reportOf();
  setOutput('instance-id', written?.instance?.id ?? '');
  setOutput('exit-code', code ?? '');
  setOutput('cost', written?.cost_at_most ?? '');
  const isEnded =
    written === undefined
      ? NOTHING_SENT.includes(code)
      : written.instance === null || written.terminated === true;
  if (isEnded) saveState('ended', 'true');
  process.exitCode = code ?? 1;
});
