import { connect } from 'node:net';

/** Timeout for the SSH banner, in milliseconds; shorter if the wait has less left. */
const PATIENCE_MS = 5_000;
/** Minimum milliseconds for a response, even near a deadline. */
const SHORTEST_PATIENCE_MS = 500;

/**
 * Whether an SSH server sends its banner. An instance is ACTIVE before sshd listens, so the status
 * alone is not enough. Any connection fault means "not yet". `longest` is the caller's remaining time
 * in milliseconds.
 */
export function answersSsh(
  { host, port }: { readonly host: string; readonly port: number },
  longest: number,
  signal: AbortSignal,
): Promise<boolean> {
  const patience = Math.max(SHORTEST_PATIENCE_MS, Math.min(PATIENCE_MS, longest));
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect({ host, port });
    // Part of the total: name resolution and a slow instance take time too.
    const timer = setTimeout(() => end(false), patience);
    const stop = () => end(false);
    const end = (answers: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      socket.destroy();
      resolve(answers);
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      heard += text;
      // A server may send other lines before its banner (RFC 4253, section 4.2).
      if (/^SSH-/m.test(heard)) end(true);
      else if (heard.length > 8_192) end(false);
    });
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
  });
}
