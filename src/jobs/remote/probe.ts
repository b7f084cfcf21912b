import type { Context } from '../../context.ts';
import type { JobGpu } from '../../json-results/jobs.ts';
import { storeHostKey } from '../../ssh/known-hosts.ts';
import type { SshOptions } from '../../ssh/ssh-argv.ts';
import type { SshEndpoint } from '../../watch/ssh-endpoint.ts';
import type { Observation } from '../state.ts';
import { lastLine } from './failed-ssh.ts';
import { gpuIn } from './gpu-sample.ts';
import { createRemoteShell, type RemoteShell } from './remote-shell.ts';
import { PROBE } from './supervisor.ts';

/** A job's state on its instance. */
export interface Probed {
  /**
   * `none`: the command was never started. `lost`: the command disappeared without an exit code.
   */
  readonly state: 'none' | 'running' | 'exited' | 'lost';
  readonly exitCode: number | undefined;
  /** Whether the setup still runs. */
  readonly isSetup: boolean;
  /** The mark of the last setup that has succeeded there; undefined without one. */
  readonly setUp: string | undefined;
  /** How the command has used the cards until now; null without a sample. */
  readonly gpu: JobGpu | null;
  /** The home folder, as an absolute path. */
  readonly home: string;
  /** Whether rsync is usable on the instance. A greeting from the login shell breaks rsync. */
  readonly hasRsync: boolean;
  readonly hasTar: boolean;
}

/** Reads the state of an instance's job once. On failure, returns the reason as text. */
export async function probe(
  shell: Pick<RemoteShell, 'run'>,
  signal: AbortSignal,
): Promise<Probed | string> {
  const { code, stdout, stderr } = await shell.run(PROBE, signal);
  const [, state, exit] =
    /^gpucloud-run (none|running|exited|lost)(?: (\d+)(?: full)?)?$/m.exec(stdout) ?? [];
  const [, home] = /^gpucloud-run home (\/.*)/m.exec(stdout) ?? [];
  const [, use = ''] = /^gpucloud-run gpu (.*)/m.exec(stdout) ?? [];
  const [, setUp] = /^gpucloud-run set up (\w+)$/m.exec(stdout) ?? [];
  const lines = stdout.split('\n');
  if (!lines.includes('gpucloud-run ready') || state === undefined || home === undefined) {
    // An instance may explain on stdout why it refuses a user.
    return lastLine(stderr) || lastLine(stdout) || `ssh exited with ${code}`;
  }
  return {
    state: state as Probed['state'],
    exitCode: state === 'exited' && exit !== undefined ? Number(exit) : undefined,
    isSetup: lines.includes('gpucloud-run setup'),
    setUp,
    gpu: gpuIn(use),
    home,
    hasRsync: stdout.startsWith('gpucloud-run ') && lines.includes('gpucloud-run rsync'),
    hasTar: lines.includes('gpucloud-run tar'),
  };
}

/** Returns what a sign-in showed of a job. */
export function observed({ state, exitCode }: Pick<Probed, 'state' | 'exitCode'>): Observation {
  switch (state) {
    case 'none':
      return { kind: 'absent' };
    case 'exited':
      return exitCode === undefined ? { kind: 'lost' } : { kind: 'exited', code: exitCode };
    default:
      return { kind: state };
  }
}

/** An instance on which scripts can run. */
export interface SignedIn extends Probed {
  readonly shell: RemoteShell;
}

interface Place {
  readonly endpoint: SshEndpoint;
  readonly ssh: SshOptions;
  /** The home folder of an earlier sign-in, where the job is. */
  readonly home: string | undefined;
}

/**
 * Signs in once and reads the state of the instance's job. On failure, returns the reason as text.
 * Stores the host key of a new instance only after this.
 */
export async function signIn(
  { endpoint, ssh, home }: Place,
  context: Context,
  signal: AbortSignal,
): Promise<SignedIn | string> {
  const found = await storeHostKey(endpoint.id, ssh, async (how) => {
    const result = await probe(createRemoteShell(endpoint, how, context, home), signal);
    return { result, isTrusted: typeof result !== 'string' };
  });
  if (typeof found === 'string') return found;
  return { ...found, shell: createRemoteShell(endpoint, ssh, context, found.home) };
}
