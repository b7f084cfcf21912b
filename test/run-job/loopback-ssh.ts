import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Host } from '../../src/context.ts';

/** The programs of a computer whose `ssh` leads to an instance on the same computer. */
export interface LoopbackSsh extends Pick<Host, 'start' | 'startPiped'> {
  /** What ssh prints of the next connections, which all fail. */
  readonly refusals: string[];
  /** The scripts that ran there. */
  readonly scripts: readonly string[];
  /** Cuts each connection. What it started there continues. */
  cut(): void;
}

interface Instance {
  readonly home: string;
  readonly path: string;
}

/** Each connection is a shell in the instance's home folder, in a session of its own. */
export function loopbackSsh({ home, path }: Instance): LoopbackSsh {
  const refusals: string[] = [];
  const scripts: string[] = [];
  const open = new Set<() => void>();
  return {
    refusals,
    scripts,
    // `ssh -V`. Without rsync, files are copied with tar.
    async start({ file }) {
      return {
        ended: Promise.resolve(file === 'ssh' ? 0 : 127),
        isLate: false,
        kill: () => undefined,
      };
    },
    async startPiped({ file, args }) {
      if (file !== 'ssh') throw new Error(`no ${file} on this computer`);
      const refusal = refusals.shift();
      if (refusal !== undefined) return refused(refusal);
      const script = args.at(-1) ?? '';
      scripts.push(script);
      const env = { PATH: path, HOME: home };
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
}

/** An ssh that prints why it could not connect. */
function refused(reason: string) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.resume();
  stdout.end();
  stderr.end(`${reason}\n`);
  return { stdin, stdout, stderr, ended: Promise.resolve(255), kill: () => undefined };
}
