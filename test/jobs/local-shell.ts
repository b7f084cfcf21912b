import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import { closing, lastOf } from '../../src/jobs/remote/remote-shell.ts';
import type { Piped } from '../../src/system/programs.ts';

/** The shells that an instance may have as sh. */
export const SHELLS = {
  sh: ['sh'],
  dash: ['dash'],
  busybox: ['busybox', 'sh'],
  bash: ['bash', '--posix'],
};

/**
 * Simulates an instance without a network. Runs scripts on this computer with the given shell and
 * home folder. Puts `bin` first in PATH.
 */
export function localShell(home: string, sh: readonly string[], bin?: string): RemoteShell {
  const PATH = bin === undefined ? process.env.PATH : `${bin}:${process.env.PATH}`;
  const [file = 'sh', ...words] = sh;
  async function open(
    script: string,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<Piped> {
    // Starts a session of its own in the home folder, as sshd does.
    const child = spawn(file, [...words, '-c', script, 'sh', ...args], {
      cwd: home,
      env: { PATH, HOME: home },
      detached: true,
      stdio: 'pipe',
    });
    const ended = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : 255));
    const stop = () => child.kill('SIGKILL');
    signal.addEventListener('abort', stop, { once: true });
    void ended.then(() => signal.removeEventListener('abort', stop));
    child.stdin.on('error', () => undefined);
    await once(child, 'spawn');
    return {
      ...child,
      stdin: child.stdin,
      stdout: child.stdout,
      stderr: child.stderr,
      ended,
      // Kills the whole process group, so that its streams close at once, as when ssh ends.
      kill() {
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        if (!hasEnded && child.pid !== undefined) process.kill(-child.pid);
      },
    };
  }
  const start = closing(open);
  return {
    open,
    start,
    async run(script, signal, { args = [], input = '' } = {}) {
      const running = await start(script, args, signal, input);
      const [stdout, stderr, code] = await Promise.all([
        lastOf(running.stdout),
        lastOf(running.stderr),
        running.ended,
      ]);
      signal.throwIfAborted();
      return { code, stdout, stderr };
    },
    ssh: { words: [], user: 'nobody', host: 'nowhere' },
    home,
  };
}
