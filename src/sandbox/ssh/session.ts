import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Leader, startPiped } from '../../system/programs.ts';
import { serveSftp } from './sftp.ts';
import type { PseudoTtyInfo, ServerChannel, Session } from './ssh2.ts';

/** What an SSH connection to a sandbox instance needs. */
export interface Serving {
  readonly hostKey: string;
  /** SSH keys selected in the create request. */
  readonly publicKeys: readonly string[];
  readonly home: string;
  /** Shell prompt, which identifies the instance. */
  readonly prompt: string;
  /** Environment of commands on the instance. */
  readonly env: { readonly SHELL: string } & Readonly<Record<string, string>>;
  readonly platform: string;
}

/** Rows and columns of a terminal. */
type Size = Pick<PseudoTtyInfo, 'rows' | 'cols'>;

/** Serves one session of a connection: a command, a shell or a copy. */
export function serveSession(session: Session, serving: Serving): void {
  let { env } = serving;
  let terminal: Terminal | undefined;
  let running: Leader | undefined;
  const run = async (channel: ServerChannel, command: string | undefined) => {
    const { SHELL: shell } = env;
    const own = command === undefined ? [shell] : [shell, '-c', command];
    const words = terminal === undefined ? own : terminal.words(own, serving.platform);
    const [file = shell, ...args] = words;
    try {
      const program = { file, args, env: { ...env, ...promptOf(command) }, cwd: serving.home };
      running = await startPiped(program, serving.platform);
    } catch {
      const missing =
        terminal === undefined ? shell : 'script, which the shell needs for a terminal,';
      channel.stderr.write(`gpucloud: could not start ${missing} on this computer.\n`);
      channel.exit(127);
      channel.end();
      return;
    }
    await follow(channel, running, terminal !== undefined);
    if (terminal !== undefined) await rm(terminal.path, { force: true });
  };
  const promptOf = (command: string | undefined) => {
    if (command !== undefined) return {};
    const { prompt: PS1 } = serving;
    // The system's bashrc replaces PS1.
    return { PS1, PROMPT_COMMAND: `PS1='${PS1}'; unset PROMPT_COMMAND` };
  };
  session.on('env', (accept, _reject, { key, val }) => {
    if (/^(?:LANG|LC_[A-Z]+|COLORTERM)$/.test(key)) env = { ...env, [key]: val };
    accept?.();
  });
  session.on('pty', (accept, _reject, { rows, cols, ...info }) => {
    const { term: TERM } = info as unknown as { term: string };
    env = { ...env, TERM };
    terminal = createTerminal({ rows, cols }, serving.home);
    accept?.();
  });
  session.on('window-change', (accept, _reject, size) => {
    terminal?.resize(size, serving);
    accept?.();
  });
  session.on('signal', (accept, _reject, { name }) => {
    // Ignore a signal that the system lacks, as sshd does.
    if (running?.pid !== undefined && `SIG${name}` in constants.signals) {
      const args = ['-c', `kill -s ${name} -- -${running.pid}`];
      void startPiped({ file: '/bin/sh', args, env }, serving.platform);
    }
    accept?.();
  });
  session.on('shell', (accept) => void run(accept(), undefined));
  session.on('exec', (accept, _reject, { command }) => void run(accept(), command));
  session.on('sftp', (accept) => serveSftp(accept(), serving.home));
}

/** Connects a program with its channel until the program exits. */
async function follow(
  channel: ServerChannel,
  program: Leader,
  hasTerminal: boolean,
): Promise<void> {
  const { stdin, stdout, stderr, ended } = program;
  let turn: Promise<unknown> = Promise.resolve();
  async function copy(from: Readable, to: Writable): Promise<void> {
    for await (const chunk of from) {
      turn = turn.then(() => writeAll(to, chunk, channel));
      await turn;
    }
  }
  channel.pipe(stdin);
  channel
    .on('error', () => undefined)
    .on('close', () => {
      // Closing the terminal stops a shell. Other commands continue without their streams.
      if (hasTerminal) program.kill();
      stdin.destroy();
      stdout.destroy();
      stderr.destroy();
    });
  const copied = Promise.all([copy(stdout, channel), copy(stderr, channel.stderr)]);
  // The connection has closed the streams.
  const [code] = await Promise.all([ended, copied.catch(() => undefined)]);
  if (program.endSignal === null) channel.exit(code);
  else channel.exit(program.endSignal.replace('SIG', ''));
  channel.end();
}

/**
 * Writes to one output of a channel. When the client opens its window, ssh2 resumes only one
 * output, and repeats a chunk that waited earlier. So one output writes at a time, and the chunk is
 * forgotten.
 */
async function writeAll(to: Writable, chunk: unknown, channel: ServerChannel): Promise<void> {
  await new Promise<void>((written) => to.write(chunk, () => written()));
  const none = undefined;
  Object.assign(channel, { _chunk: none, _chunkcb: none, _chunkErr: none, _chunkcbErr: none });
}

interface Terminal {
  /** A file that contains the terminal's name. It exists as long as the terminal. */
  readonly path: string;
  /** Returns the command line that runs another command in the terminal. */
  words(own: readonly string[], platform: string): string[];
  resize(size: Size, serving: Serving): void;
}

/**
 * Creates a terminal with `script`, since Node can't create one. `script` can't set a size, so
 * `stty` does.
 */
function createTerminal({ rows, cols }: Size, home: string): Terminal {
  const path = join(home, '..', `terminal-${randomUUID()}`);
  return {
    path,
    words(own, platform) {
      const size = `stty rows ${rows} cols ${cols}`;
      const line = `tty >${quoted(path)}; ${size}; exec ${own.map(quoted).join(' ')}`;
      return platform === 'linux'
        ? ['script', '-q', '-e', '-f', '-c', line, '/dev/null']
        : ['script', '-q', '/dev/null', '/bin/sh', '-c', line];
    },
    resize({ rows, cols }, { env, platform }) {
      const flag = platform === 'linux' ? '-F' : '-f';
      void readFile(path, 'utf8').then(
        (name) =>
          startPiped(
            {
              file: 'stty',
              args: [flag, name.trim(), 'rows', String(rows), 'cols', String(cols)],
              env,
            },
            platform,
          ),
        // The shell has not started yet.
        () => undefined,
      );
    },
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
