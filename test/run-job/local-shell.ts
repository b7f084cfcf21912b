import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Piped } from '../../src/programs.ts';
import type { RemoteShell } from '../../src/run-job/remote/remote-shell.ts';
import { lastOf } from '../../src/run-job/remote/remote-shell.ts';

/**
 * An instance without a network: scripts run here, by the given sh, in a home folder of their own.
 * Programs in `bin` come first.
 */
export function localShell(home: string, sh: readonly string[], bin?: string): RemoteShell {
  const PATH = bin === undefined ? process.env.PATH : `${bin}:${process.env.PATH}`;
  const [file = 'sh', ...words] = sh;
  async function start(
    script: string,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<Piped> {
    // As sshd does: a session of its own, in the home folder.
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
      // With all that it started: the end of ssh closes its streams at once.
      kill() {
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        if (!hasEnded && child.pid !== undefined) process.kill(-child.pid);
      },
    };
  }
  return {
    start,
    async run(script, input, signal) {
      const running = await start(script, [], signal);
      running.stdin.end(input);
      const [stdout, stderr, code] = await Promise.all([
        lastOf(running.stdout),
        lastOf(running.stderr),
        running.ended,
      ]);
      return { code, stdout, stderr };
    },
    ssh: { words: [], user: 'nobody', host: 'nowhere' },
  };
}
