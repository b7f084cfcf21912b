import { lastLine } from './failed-ssh.ts';
import type { RemoteShell } from './remote-shell.ts';
import { PROBE } from './supervisor.ts';

/** A job's state on its instance. */
export interface Probed {
  /**
   * `none`: the command was never started. `lost`: the command disappeared without an exit code.
   */
  readonly state: 'none' | 'running' | 'exited' | 'lost';
  readonly exitCode: number | undefined;
  /** Whether rsync is usable on the instance. A greeting from the login shell breaks rsync. */
  readonly hasRsync: boolean;
  readonly hasTar: boolean;
}

/** Reads the state of an instance's job once. On failure, returns the reason as text. */
export async function probe(shell: RemoteShell, signal: AbortSignal): Promise<Probed | string> {
  const { code, stdout, stderr } = await shell.run(PROBE, '', signal);
  const lines = stdout.split('\n');
  if (!lines.includes('gpucloud-run ready')) {
    return lastLine(stderr) || `ssh exited with ${code}`;
  }
  const [, state = 'none', exit] =
    /^gpucloud-run (running|exited|lost)(?: (\d+))?$/m.exec(stdout) ?? [];
  return {
    state: state as Probed['state'],
    exitCode: state === 'exited' && exit !== undefined ? Number(exit) : undefined,
    hasRsync: stdout.startsWith('gpucloud-run ') && lines.includes('gpucloud-run rsync'),
    hasTar: lines.includes('gpucloud-run tar'),
  };
}
