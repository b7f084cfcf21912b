// Terminates the instance that main.mjs rented. The runner starts this last, even after a cancelled job.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fail, isRecorded, markOf, NOT_FOUND, program, SETTINGS, stopCommands } from './runner.mjs';

/** Pauses before further attempts, in milliseconds. */
const PAUSES = [1_000, 5_000, 15_000];

/** Limits each request, since GitHub stops a cancelled job after five minutes. */
const TIMEOUT = '15s';

/** Milliseconds after which no other attempt begins: `terminate` itself tries for about a minute. */
const LATEST = 60_000;

const { STATE_name: name = '', STATE_ended: ended = '', STATE_settings } = process.env;
const settings = JSON.parse(STATE_settings || '{}');
// A variable that main did not have is removed.
const env = { ...process.env, ...Object.fromEntries(SETTINGS.map((one) => [one, settings[one]])) };

function gpucloud(...words) {
  const { status, stdout, stderr, error } = spawnSync(program(), [...words, '--timeout', TIMEOUT], {
    encoding: 'utf8',
    env,
  });
  if (error !== undefined) {
    throw error.code === 'ENOENT' ? new Error(NOT_FOUND, { cause: error }) : error;
  }
  return { status, stdout, stderr };
}

/** Terminates the instance. Returns 'terminated', 'nothing' if nothing was rented, or 'unknown'. */
function end() {
  const terminated = gpucloud('instances', 'terminate', name, '--yes');
  if (terminated.status === 0) return 'terminated';
  // Finds the instance of a request whose response was lost.
  // Nobody else uses the name: its suffix is random.
  const recovered = gpucloud('instances', 'recover', name, '--yes');
  if (recovered.status === 0) {
    if (gpucloud('instances', 'terminate', name, '--yes').status === 0) return 'terminated';
  } else {
    const { isWhole, rows } = listed();
    const isNamed = isRecorded(settings.GPUCLOUD_STATE_DIR, name);
    if (isWhole && rows.length === 0 && !isNamed) return 'nothing';
  }
  print(`${terminated.stderr}${recovered.stdout}${recovered.stderr}`);
  return 'unknown';
}

/** Lists the instance with the name, or a request with an unknown outcome. */
function listed() {
  const query = `[?name=='${name}']`;
  const { status, stdout } = gpucloud('instances', 'list', '--all', '--json', '--query', query);
  return { isWhole: status === 0, rows: JSON.parse(stdout || '[]') };
}

async function endAtLast() {
  const begun = Date.now();
  for (const pause of PAUSES) {
    const outcome = end();
    if (outcome !== 'unknown' || Date.now() - begun > LATEST) return outcome;
    process.stdout.write(`Trying again in ${pause / 1000} s.\n`);
    await sleep(pause);
  }
  return end();
}

function print(text) {
  const resumeCommands = stopCommands();
  process.stdout.write(text);
  resumeCommands();
}

function mayBill(what, reason) {
  fail(
    `${what} may still be billing: ${reason} Look for it in the service's web console and terminate it there.`,
  );
}

if (name === '' || ended === 'true') {
  process.stdout.write('Nothing is left to terminate.\n');
} else {
  const state = settings.GPUCLOUD_STATE_DIR;
  const mark = markOf(state, name);
  try {
    const outcome = existsSync(mark) ? await endAtLast() : 'lost';
    if (outcome === 'lost') mayBill(name, `the journal in ${state} was deleted or replaced.`);
    if (outcome === 'terminated' || outcome === 'nothing') rmSync(mark);
    if (outcome === 'terminated') process.stdout.write(`Terminated ${name}.\n`);
    if (outcome === 'nothing') process.stdout.write('Nothing was rented.\n');
    if (outcome === 'unknown') {
      const id = listed().rows[0]?.id;
      mayBill(id ? `${name} (${id})` : name, 'gpucloud could not confirm that it ended.');
    }
  } catch (error) {
    mayBill(name, error.message);
  }
}
