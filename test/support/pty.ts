import { closeSync, constants, openSync, write } from 'node:fs';
import pty from '@lydell/node-pty';

/** A program on a pty whose output is never lost. */
export interface Pty {
  readonly pid: number;
  write(keys: string): void;
  resize(columns: number, rows: number): void;
  kill(signal: string): void;
  /** Resolves with the exit once `onData` has received all output. */
  readonly ended: Promise<PtyExit>;
}

export interface PtyExit {
  readonly exitCode: number;
  /** Number of the signal that ended the program, or 0. */
  readonly signal: number;
}

export interface PtyOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly cols: number;
  readonly rows: number;
  readonly name: string;
  readonly onData: (text: string) => void;
}

/** A mark that no program writes and no terminal shows. */
const LAST_WORD = '\u001b]9999;all was read\u0007';

/** Members of node-pty that its types omit. */
interface Inside {
  /** Whether node-pty has read all output. If true, node-pty reports the exit at once. */
  _emittedClose: boolean;
  readonly _pty: string;
  readonly _socket: {
    once(event: 'close', listener: () => void): void;
    destroy(): void;
  };
}

/**
 * Starts a program. node-pty alone loses output: when the last process closes the pty, libuv ends
 * the stream after the first read that was not full (4095 bytes), and node-pty closes it 200 ms
 * after the exit. On a busy computer either happens early. So this keeps the pty open, writes a
 * mark after the program's output once the program exits, and closes the pty once it has read the
 * mark.
 */
export function openPty({ program, args, onData, env, ...options }: PtyOptions): Pty {
  const child = pty.spawn(program, [...args], { ...options, env: { ...env } });
  const inside = child as unknown as Inside;
  if (inside._emittedClose !== false) throw new Error('this node-pty is another one inside');
  const held = openSync(inside._pty, constants.O_RDWR | constants.O_NOCTTY);
  inside._emittedClose = true;

  let after: string | undefined;
  let finish = () => {};
  child.onData((text) => {
    if (after === undefined) {
      onData(text);
      return;
    }
    after += text;
    if (after.includes(LAST_WORD)) finish();
  });

  const ended = new Promise<PtyExit>((resolve) => {
    child.onExit(({ exitCode, signal = 0 }) => {
      after = '';
      const said = new Promise<NodeJS.ErrnoException | null>((done) => {
        write(held, LAST_WORD, done);
      });
      finish = () => {
        finish = () => {};
        const [text = ''] = (after ?? '').split(LAST_WORD);
        if (text !== '') onData(text);
        inside._socket.destroy();
        void said.then(() => closeSync(held));
        resolve({ exitCode, signal });
      };
      // On macOS, a pty ends with its first process, so writing the mark fails. The output is then
      // read until the socket closes, or for 200 ms.
      inside._socket.once('close', () => finish());
      void said.then((error) => {
        if (error !== null) setTimeout(() => finish(), 200);
      });
    });
  });

  return {
    pid: child.pid,
    write: (keys) => child.write(keys),
    resize: (columns, rows) => child.resize(columns, rows),
    kill: (signal) => child.kill(signal),
    ended,
  };
}
