// Terminates what main.mjs rented. The runner starts it last, also after a cancelled job.
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fail, NOT_FOUND, program } from './runner.mjs';

/** Milliseconds before another attempt. */
const PAUSES = [1_000, 5_000];

const { STATE_name: name = '', STATE_ended: ended = '' } = process.env;

function gpucloud(...words) {
  const { status, stdout, stderr, error } = spawnSync(program(), words, { encoding: 'utf8' });
  if (error !== undefined) {
    throw error.code === 'ENOENT' ? new Error(NOT_FOUND, { cause: error }) : error;
  }
  return { status, stdout, stderr };
}

/** What became of the instance: 'terminated', 'nothing' if none was rented, 'unknown'. */
function end() {
  const terminated = gpucloud('instances', 'terminate', name, '--yes');
  if (terminated.status === 0) return 'terminated';
  // Finds the instance of a request whose response was lost.
  const recovered = gpucloud('instances', 'recover', name);
  if (recovered.status === 0) {
    if (gpucloud('instances', 'terminate', name, '--yes').status === 0) return 'terminated';
  } else if (isAbsent()) {
    return 'nothing';
  }
  process.stdout.write(`${terminated.stderr}${recovered.stdout}${recovered.stderr}`);
  return 'unknown';
}

/** Whether the list was read and has neither an instance nor a request with the name. */
function isAbsent() {
  const { status, stdout } = gpucloud('instances', 'list', '--all', '--json');
  return status === 0 && !JSON.parse(stdout).some((row) => row.name === name);
}

async function endAtLast() {
  for (const pause of PAUSES) {
    const outcome = end();
    if (outcome !== 'unknown') return outcome;
    process.stdout.write(`Trying again in ${pause / 1000} s.\n`);
    await sleep(pause);
  }
  return end();
}

function mayBill(reason) {
  fail(
    `${name} may still be billing: ${reason} Look for it in the service's web console and terminate it there.`,
  );
}

if (name === '' || ended === 'true') {
  process.stdout.write('Nothing is left to terminate.\n');
} else {
  try {
    const outcome = await endAtLast();
    if (outcome === 'terminated') process.stdout.write(`Terminated ${name}.\n`);
    if (outcome === 'nothing') process.stdout.write('Nothing was rented.\n');
    if (outcome === 'unknown') {
      process.stdout.write(gpucloud('instances', 'list').stdout);
      mayBill('gpucloud could not confirm that it ended.');
    }
  } catch (error) {
    mayBill(error.message);
  }
}
