import type { Context } from '../../context.ts';
import { batchSsh, type SshOptions } from '../../ssh/ssh-argv.ts';
import { notStarted } from '../../ssh/ssh-process.ts';
import type { Piped } from '../../system/programs.ts';
import type { SshEndpoint } from '../../watch/ssh-endpoint.ts';
import { SSH_FAILED } from './failed-ssh.ts';
import { orAborted } from './within.ts';

/** Characters to keep from the end of an output, for an error or a short result. */
const KEPT = 8_000;

/** A short script's result. */
export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `sh` scripts on an instance, each over its own SSH connection. */
export interface RemoteShell {
  /**
   * Starts a script whose stdin is `input`, and stops it when the signal aborts. Throws CliError if
   * ssh is missing.
   */
  start(
    script: string,
    args: readonly string[],
    signal: AbortSignal,
    input?: string,
  ): Promise<Piped>;
  /** Starts a script as `start` does, but leaves stdin open for the caller. */
  open(script: string, args: readonly string[], signal: AbortSignal): Promise<Piped>;
  /** Runs a short script to its end; `input` is its stdin. Throws the signal's reason. */
  run(
    script: string,
    signal: AbortSignal,
    how?: { readonly args?: readonly string[]; readonly input?: string },
  ): Promise<Printed>;
  /** ssh command for a program that starts ssh itself. */
  readonly ssh: ReturnType<typeof batchSsh>;
  /**
   * The folder in which each script starts, as an absolute path. undefined before the first
   * sign-in: scripts then start in the home folder.
   */
  readonly home: string | undefined;
}

export function createRemoteShell(
  endpoint: SshEndpoint,
  how: SshOptions,
  { startPiped }: Pick<Context, 'startPiped'>,
  home?: string,
): RemoteShell {
  // The start files of a login shell may change the folder.
  const enter = home === undefined ? 'cd' : `cd ${shQuoted(home)} || exit ${SSH_FAILED}`;
  const ssh = batchSsh(endpoint, how);
  const [file = 'ssh', ...options] = ssh.words;

  async function open(
    script: string,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<Piped> {
    signal.throwIfAborted();
    // Uses only syntax that every login shell parses. `exec` leaves no second process between sshd and sh.
    const words = [`${enter}\n${script}`, 'sh', ...args].map(shQuoted);
    const line = ['exec', 'sh', '-c', ...words].join(' ');
    const running = await startPiped({
      file,
      args: [...options, '--', `${ssh.user}@${ssh.host}`, line],
    }).catch((error: unknown) => {
      throw notStarted(file, error);
    });
    const stop = () => running.kill();
    signal.addEventListener('abort', stop, { once: true });
    // The signal may have aborted while the program started.
    if (signal.aborted) stop();
    void running.ended.then(() => signal.removeEventListener('abort', stop));
    return running;
  }

  const start = closing(open);
  return {
    ssh,
    home,
    open,
    start,
    async run(script, signal, { args = [], input = '' } = {}) {
      const running = await start(script, args, signal, input);
      const all = [lastOf(running.stdout), lastOf(running.stderr), running.ended] as const;
      const [stdout, stderr, code] = await orAborted(Promise.all(all), signal);
      return { code, stdout, stderr };
    },
  };
}

/** Returns the `start` of a shell: what nobody closes keeps its script from ending. */
export function closing(open: RemoteShell['open']): RemoteShell['start'] {
  return async (script, args, signal, input = '') => {
    const running = await open(script, args, signal);
    running.stdin.end(input);
    return running;
  };
}

/** Quotes a text as one word for sh. */
export function shQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Reads a stream to its end and keeps the last part. */
export async function lastOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    text = (text + decoder.decode(chunk, { stream: true })).slice(-KEPT);
  }
  return text;
}
