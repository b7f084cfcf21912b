import { connect } from 'node:net';

/** Milliseconds in which a machine that listens has said its banner. */
const PATIENCE_MS = 5_000;

/**
 * Whether an SSH server answers with its banner. ACTIVE comes before sshd does, so a status alone
 * does not tell that a machine can be entered. Any fault of the connection means "not yet".
 */
export function answersSsh(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect({ host, port, signal });
    const end = (answers: boolean) => {
      socket.destroy();
      resolve(answers);
    };
    socket.setEncoding('latin1');
    socket.setTimeout(PATIENCE_MS, () => end(false));
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
