import type { Context } from '../../context.ts';
import type { Piped } from '../../programs.ts';
import { batchSsh, type SshOptions } from '../../reach/ssh-argv.ts';
import { notStarted } from '../../reach/ssh-process.ts';
import type { SshEndpoint } from '../../watch/ssh-endpoint.ts';

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
  /** Starts a script, and stops it when the signal aborts. Throws CliError if ssh is missing. */
  start(script: string, args: readonly string[], signal: AbortSignal): Promise<Piped>;
  /** Runs a short script to its end; `input` is its stdin. Throws the signal's reason. */
  run(script: string, input: string, signal: AbortSignal): Promise<Printed>;
  /** ssh command for a program that starts ssh itself. */
  readonly ssh: ReturnType<typeof batchSsh>;
}

export function createRemoteShell(
  endpoint: SshEndpoint,
  options: SshOptions,
  { startPiped }: Pick<Context, 'startPiped'>,
): RemoteShell {
  const ssh = batchSsh(endpoint, options);
  const [file = 'ssh', ...words] = ssh.words;

  async function start(
    script: string,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<Piped> {
    signal.throwIfAborted();
    // Uses only syntax that every login shell parses. `exec` leaves no second process between sshd and sh.
    const line = ['exec', 'sh', '-c', ...[script, 'sh', ...args].map(shQuoted)].join(' ');
    const running = await startPiped({
      file,
      args: [...words, '--', `${ssh.user}@${ssh.host}`, line],
    }).catch((error: unknown) => {
      throw notStarted(file, error);
    });
    const stop = () => running.kill();
    signal.addEventListener('abort', stop, { once: true });
    void running.ended.then(() => signal.removeEventListener('abort', stop));
    return running;
  }

  return {
    ssh,
    start,
    async run(script, input, signal) {
      const running = await start(script, [], signal);
      running.stdin.end(input);
      const [stdout, stderr, code] = await Promise.all([
        lastOf(running.stdout),
        lastOf(running.stderr),
        running.ended,
      ]);
      signal.throwIfAborted();
      return { code, stdout, stderr };
    },
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
