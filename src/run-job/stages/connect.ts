import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { reach } from '../../reach/reach.ts';
import type { Job } from '../job.ts';
import { createRemoteShell, type RemoteShell } from '../remote/remote-shell.ts';
import { PROBE, STARTED } from '../remote/supervisor.ts';

/** An instance that runs scripts. */
export interface Connected {
  readonly shell: RemoteShell;
  /** Whether the command was started earlier. */
  readonly isStarted: boolean;
  /** Whether both sides have rsync. */
  readonly hasRsync: boolean;
}

/** Waits until the instance responds, and signs in. */
export async function connect(job: Job, context: Context): Promise<Connected> {
  const { record, how, phases, stops } = job;
  // The wait has a progress line of its own.
  phases.clear();
  const reached = await reach(record.id, how, context, stops.any);
  job.instance = reached.instance;
  phases.begin('connecting');
  const shell = createRemoteShell(reached.endpoint, reached.ssh, context);
  const { isStarted, hasRsync } = await probed(shell, stops.any, context);
  return { shell, isStarted, hasRsync: hasRsync && (await isRsyncHere(context)) };
}

/** Milliseconds between two attempts to sign in. */
const PAUSE = 3_000;
/** sshd may start before the keys are in place. */
const ATTEMPTS = 40;

/** Checks the tools of the instance. Tries again until the keys are in place there. */
async function probed(shell: RemoteShell, signal: AbortSignal, { clock }: Context) {
  for (let attempt = 1; ; attempt += 1) {
    const { code, stdout, stderr } = await shell.run(PROBE, '', signal);
    const lines = stdout.split('\n');
    if (lines.includes('gpucloud-run ready')) {
      // rsync can't work with a login shell that prints something first.
      const greets = !stdout.startsWith('gpucloud-run ');
      return {
        isStarted: lines.includes(STARTED),
        hasRsync: !greets && lines.includes('gpucloud-run rsync'),
      };
    }
    if (attempt === ATTEMPTS) throw noSignIn(code, stderr);
    await clock.sleep(PAUSE, signal);
  }
}

function noSignIn(code: number, stderr: string): CliError {
  const reason = stderr.trim().split('\n').at(-1) || `ssh ended with ${code}`;
  return new CliError('refused', `Could not sign in with SSH: ${reason}`);
}

async function isRsyncHere({ start, host }: Context): Promise<boolean> {
  // rsync on Windows uses its own ssh and its own paths.
  if (host.platform === 'win32') return false;
  const hear = () => undefined;
  const running = await start({ file: 'rsync', args: ['--version'], hear, timeout: 5_000 });
  return (await running.ended.catch(() => 127)) === 0;
}
