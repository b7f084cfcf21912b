import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { SSH_FAILED } from '../jobs/remote/failed-ssh.ts';
import { createRemoteShell, lastOf } from '../jobs/remote/remote-shell.ts';
import { within } from '../jobs/remote/within.ts';
import { hasSsh } from '../rules/statuses.ts';
import { storeHostKey } from '../ssh/known-hosts.ts';
import { sshOptions } from '../ssh/reach.ts';
import type { FindSignIn } from '../ssh/sign-in.ts';
import { troubleIn } from '../ssh/ssh-process.ts';
import { sshEndpoint } from '../watch/ssh-endpoint.ts';
import { PROBE_SCRIPT } from './probe-script.ts';
import { parseSample, type Sample } from './sample.ts';

/** In bytes; a probe never prints more. */
const LARGEST = 64 * 1024;

interface Reading {
  readonly find: FindSignIn;
  readonly signal: AbortSignal;
  /** The folder of the instance's last job, from its first sign-in. */
  readonly home?: string | undefined;
}

/**
 * Reads the use of an instance over one SSH connection. If the signal aborts, returns the parts
 * read so far. Throws CliError if it can't sign in or reads no part.
 */
export async function readSample(
  instance: Instance,
  samples: number,
  { find, signal, home }: Reading,
  context: Context,
): Promise<Sample> {
  const name = instance.name ?? instance.id;
  if (!hasSsh(instance.status)) throw new CliError('wrongState', `${name} is ${instance.status}.`);
  const { how, tried } = await find(instance);
  const endpoint = sshEndpoint(instance, how);
  const ssh = await sshOptions(instance.id, how, context);
  const { text, code, stderr } = await storeHostKey(instance.id, ssh, async (own) => {
    const shell = createRemoteShell(endpoint, own, context, home);
    const result = await printed(shell, samples, signal);
    return { result, isTrusted: hasBegun(result) };
  });
  if (text.length > LARGEST) {
    throw new CliError('notUnderstood', `${name} sent more than 64 KB instead of a measurement.`);
  }
  if (hasBegun({ text }) && code !== SSH_FAILED) return parseSample(text, samples);
  signal.throwIfAborted();
  const { host, port } = endpoint;
  throw failed(stderr, code, { name, tried, address: `${host} port ${port}`, instance });
}

function hasBegun({ text }: { readonly text: string }): boolean {
  return text.includes('gpucloud-probe begin');
}

/** Milliseconds in which interrupted work may return partial results. */
const WIND_UP = 200;

/**
 * Runs work with a time limit in milliseconds, after which the named instance did not respond. Does
 * not wait for work that ignores the signal.
 */
export async function withinLimit<T>(
  time: number,
  name: () => string,
  { clock, signal: interrupt }: Pick<Context, 'clock' | 'signal'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = () =>
    new CliError('unreachable', `${name()} did not respond within ${time / 1000} s.`);
  return within({ time, late, signal: interrupt, windUp: WIND_UP }, clock, work);
}

interface Shell {
  start: ReturnType<typeof createRemoteShell>['start'];
}

/**
 * Returns the output up to its end, the limit or the signal. Does not wait for a program that never
 * exits.
 */
async function printed(shell: Shell, samples: number, signal: AbortSignal) {
  const running = await shell.start(PROBE_SCRIPT, [String(samples)], signal);
  const { stdout, stderr } = running;
  const stop = () => {
    running.kill();
    stdout.destroy();
    stderr.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  const errors = lastOf(stderr).catch(() => '');
  let text = '';
  try {
    for await (const chunk of stdout) {
      text += (chunk as Buffer).toString('latin1');
      if (text.length > LARGEST) break;
    }
  } catch {
    // Without its end, a part counts as not measured.
  }
  if (text.length > LARGEST) stop();
  const isCut = text.length > LARGEST || signal.aborted;
  const code = isCut ? 0 : await running.ended;
  signal.removeEventListener('abort', stop);
  return { text, code, stderr: await errors };
}

interface Tried {
  readonly name: string;
  readonly tried: string;
  readonly address: string;
  readonly instance: Instance;
}

function failed(stderr: string, code: number, { name, tried, address, instance }: Tried): CliError {
  switch (troubleIn(stderr)) {
    case 'keys': {
      const keys = instance.ssh_keys?.map((key) => key.name ?? key.id).join(', ');
      const theirs = keys ? ` Its keys: ${keys}.` : '';
      return new CliError('refused', `${name} refused ${tried}.${theirs}`);
    }
    case 'hostKey':
      return new CliError('refused', `${name} has a new host key, so nothing was sent.`);
    case 'unreachable':
      return new CliError('unreachable', `SSH of ${name} does not respond at ${address}.`);
    default: {
      const last = stderr.trim().split('\n').at(-1) || `ssh exited with ${code}`;
      return new CliError('unreachable', `Could not connect to ${name}: ${last}`);
    }
  }
}
