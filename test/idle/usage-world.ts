import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ManualClock, manualClock } from '../support/clock.ts';
import { PARTS } from './probe-output.ts';

/**
 * Instances whose SSH is a script on this computer: it runs the remote command in a folder per SSH
 * port, with that folder's programs and /proc.
 */
export interface FakeSsh {
  /** The environment of a run that finds the fake ssh. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes a file on the instance, such as `proc/stat`. */
  write(port: number, name: string, text: string): void;
  /** Writes a program on the instance as a shell script. */
  program(port: number, name: string, script: string): void;
  /** Adds an idle instance. */
  add(port: number): void;
  /** Replaces the fake ssh of an instance. */
  ssh(port: number, script: string): void;
  /** Returns the path of a file on the instance. */
  path(port: number, name: string): string;
  close(): void;
}

/**
 * Runs the probe in the shell of the fake ssh, with functions for the programs that it starts most
 * often. Each test runs several probes of thirty processes otherwise.
 */
const PROBE = `cat() {
  [ -f "$1" ] || return 1
  while IFS= read -r line; do printf '%s\\n' "$line"; done <"$1"
}
sleep() { [ "$1" = 1 ] || /bin/sleep "$1"; }
script=$1; shift 2
eval "$script"
`;

export function fakeSsh(): FakeSsh {
  const folder = mkdtempSync(join(tmpdir(), 'gpucloud-usage-'));
  const put = (name: string, text: string, mode = 0o600) => {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text, { mode });
  };
  const program = (port: number, name: string, script: string) =>
    put(`${port}/bin/${name}`, `#!/bin/sh\n${script}\n`, 0o700);
  const write = (port: number, name: string, text: string) => put(`${port}/${name}`, text);
  put(
    'here/ssh',
    `#!/bin/sh
before= port= last=
for last; do [ "$before" != -p ] || port=$last; before=$last; done
own=${folder}/$port
[ ! -f "$own/ssh.sh" ] || . "$own/ssh.sh"
cd "$own/home" && export HOME=$PWD GPUCLOUD_PROC=$own/proc PATH=$own/bin:/usr/bin:/bin
case $last in
  *gpucloud-probe*) eval "set -- \${last#exec sh -c }" && . ${folder}/here/probe ;;
  *) exec sh -c "$last" ;;
esac
`,
    0o700,
  );
  put('here/probe', PROBE);
  return {
    env: { PATH: `${join(folder, 'here')}:/usr/bin:/bin` },
    write,
    program,
    path: (port, name) => join(folder, String(port), name),
    ssh: (port, script) => write(port, 'ssh.sh', script),
    add(port) {
      mkdirSync(join(folder, String(port), 'home'), { recursive: true });
      for (const [file, part] of FILES) write(port, `proc/${file}`, `${PARTS[part]}\n`);
      program(port, 'who', '');
      program(port, 'nvidia-smi', `echo '${PARTS.cards1}'`);
      program(port, 'df', `echo '${PARTS.disk}'`);
      // Only a time limit really elapses.
      program(port, 'sleep', 'case $1 in 1) ;; *) exec /bin/sleep "$1" ;; esac');
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const FILES = [
  ['stat', 'cpu1'],
  ['uptime', 'uptime'],
  ['meminfo', 'memory'],
  ['net/dev', 'net'],
] as const;

/** Creates a manual clock whose sleeps really elapse, so that other programs can run. */
export function realSleeps(): ManualClock {
  const clock = manualClock();
  return {
    ...clock,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', stop);
          resolve();
        }, milliseconds);
        const stop = () => {
          clearTimeout(timer);
          reject(signal?.reason);
        };
        if (signal?.aborted === true) return stop();
        signal?.addEventListener('abort', stop, { once: true });
      }),
  };
}
