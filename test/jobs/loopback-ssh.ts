import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import type { Host } from '../../src/context.ts';
import { startProgram } from '../../src/system/programs.ts';

/** The programs of a computer whose `ssh` connects to an instance on the same computer. */
export interface LoopbackSsh extends Pick<Host, 'start' | 'startPiped'> {
  /** Returns the error that ssh prints instead of running a script on the instance with this ID. */
  refuse: (script: string, id: string) => string | undefined;
  /** The PATH of the instance. */
  path: string;
  /** All scripts sent to instances so far. */
  readonly scripts: readonly string[];
  /** Cuts each connection without stopping the started programs. */
  cut(): void;
}

/**
 * The exit codes of programs that start no process. `ssh -V` succeeds. rsync fails, so that gpucloud
 * copies with tar, no agent answers ssh-add, and no scheduler works: hints depend on the computer that
 * runs the tests.
 */
const CODES: ReadonlyMap<string, number> = new Map([
  ['ssh', 0],
  ['rsync', 127],
  ['ssh-add', 2],
  ['systemctl', 1],
  ['crontab', 1],
]);

interface Instances {
  /** The home folder on the instance with this ID. */
  home(id: string): string;
  readonly path: string;
}

/** Starts a shell in its own session, in the instance's home folder, for each connection. */
export function loopbackSsh({ home: homeOf, path }: Instances): LoopbackSsh {
  const scripts: string[] = [];
  const open = new Set<() => void>();
  const ssh: LoopbackSsh = {
    refuse: () => undefined,
    path,
    scripts,
    async start(program) {
      const code = isEmptyKey(program) ? 255 : CODES.get(program.file);
      if (code === undefined) return startProgram(program);
      const ended = Promise.resolve(code);
      return { ended, isLate: false, kill: () => undefined };
    },
    async startPiped({ file, args }) {
      if (file !== 'ssh') throw new Error(`no ${file} on this computer`);
      const script = args.at(-1) ?? '';
      scripts.push(script);
      const id = /HostKeyAlias=(\S+)/.exec(args.join('\n'))?.[1] ?? '';
      const refusal = ssh.refuse(script, id);
      if (refusal !== undefined) return refused(refusal);
      const home = homeOf(id);
      const env = { PATH: ssh.path, HOME: home };
      const child = spawn('sh', ['-c', script], { cwd: home, env, detached: true, stdio: 'pipe' });
      child.stdin.on('error', () => undefined);
      let close: (code: number) => void = () => undefined;
      const ended = new Promise<number>((resolve) => {
        close = resolve;
        child.once('close', (code) => resolve(code ?? 255));
      });
      const [stdout, stderr] = [child.stdout, child.stderr].map((from) =>
        from.pipe(new PassThrough()),
      ) as [PassThrough, PassThrough];
      const end = (code: number) => () => {
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
        for (const stream of [stdout, stderr]) stream.end();
        close(code);
      };
      const cut = end(255);
      open.add(cut);
      void ended.then(() => open.delete(cut));
      await once(child, 'spawn');
      return { stdin: child.stdin, stdout, stderr, ended, kill: end(143) };
    },
    cut() {
      for (const cut of open) cut();
    },
  };
  return ssh;
}

/** Whether ssh-keygen gets the empty file that most jobs have as their private key. */
function isEmptyKey({ file, args }: Parameters<Host['start']>[0]): boolean {
  return (
    file === 'ssh-keygen' && statSync(args.at(-1) ?? '', { throwIfNoEntry: false })?.size === 0
  );
}

/** Returns an ssh that prints this error and exits with 255. */
function refused(reason: string) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.resume();
  stdout.end();
  stderr.end(`${reason}\n`);
  return { stdin, stdout, stderr, ended: Promise.resolve(255), kill: () => undefined };
}
