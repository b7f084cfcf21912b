import type { Way } from './way.ts';

/** How the system's ssh is to be used, beside where it is to go. */
export interface Manner {
  /** The file of host keys that is ours, so that the user's own is left alone. */
  readonly knownHosts: string;
  /** A file with a private key; ssh chooses among the user's where it is left out. */
  readonly identity?: string | undefined;
  /** `Key=value`, as in ssh's configuration. They go before our own. */
  readonly options: readonly string[];
  /** Further words for ssh, each as it is. */
  readonly words: readonly string[];
}

/**
 * The options that ssh and scp share.
 *
 * A machine's host key is kept under its id: addresses are given to other machines later, and a new
 * machine at an old address must not look like an attack, nor an attack like a new machine. The
 * service tells no host key, so the first one seen is kept, and any other is refused.
 */
function options({ id }: Way, manner: Manner): string[] {
  const { identity } = manner;
  return [
    ...manner.words,
    ...manner.options.flatMap((option) => ['-o', option]),
    ...(identity === undefined
      ? []
      : // Of a key that was named, an agent's others are not tried first.
        ['-i', withoutTokens(identity), '-o', 'IdentitiesOnly=yes']),
    '-o',
    `HostKeyAlias=${id}`,
    '-o',
    `UserKnownHostsFile=${configWord(manner.knownHosts)}`,
    '-o',
    'StrictHostKeyChecking=accept-new',
    // Older ssh would compare the key that the address had before.
    '-o',
    'CheckHostIP=no',
  ];
}

export interface Entering {
  /** What is run on the machine; nothing is the user's shell there. */
  readonly command: readonly string[];
  /** Ask for a terminal although a command is given. */
  readonly tty?: boolean;
}

/** The words of `ssh`, the program itself first. */
export function sshArgv(way: Way, manner: Manner, { command, tty }: Entering): string[] {
  return [
    'ssh',
    ...options(way, manner),
    ...(tty === true ? ['-t'] : []),
    ...destination(way),
    ...command,
  ];
}

/** Nothing that follows `--` is an option, not even of the remote command's own words. */
function destination({ user, host, port }: Way): string[] {
  return ['-p', String(port), '--', `${user}@${host}`];
}

export interface Copying {
  /** Paths here, or paths on the machine, by `from`. */
  readonly sources: readonly string[];
  readonly target: string;
  /** Where the sources are. */
  readonly from: 'here' | 'machine';
  readonly recursive?: boolean;
  readonly preserve?: boolean;
}

/** The words of `scp`. */
export function scpArgv(way: Way, manner: Manner, copying: Copying): string[] {
  const there = (path: string) => `${way.user}@${bracketed(way.host)}:${path}`;
  const isUpload = copying.from === 'here';
  return [
    'scp',
    ...options(way, manner),
    ...(copying.recursive === true ? ['-r'] : []),
    ...(copying.preserve === true ? ['-p'] : []),
    '-P',
    String(way.port),
    '--',
    ...copying.sources.map((path) => (isUpload ? localPath(path) : there(path))),
    isUpload ? there(copying.target) : localPath(copying.target),
  ];
}

/** scp takes what stands before a colon for a host, and a hyphen for an option of its helpers. */
function localPath(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}

export interface Forwarding {
  /** A port of this computer. */
  readonly local: number;
  /** A port of the machine. */
  readonly remote: number;
}

/** The words of the `ssh` that holds a tunnel, on loopback at both ends. */
export function tunnelArgv(way: Way, manner: Manner, { local, remote }: Forwarding): string[] {
  return [
    'ssh',
    ...options(way, manner),
    // A connection that is shared would outlive this one, and keep the port.
    '-o',
    'ControlMaster=no',
    '-o',
    'ControlPath=none',
    '-o',
    'ExitOnForwardFailure=yes',
    // A line that is dead is noticed after 45 seconds.
    '-o',
    'ServerAliveInterval=15',
    '-o',
    'ServerAliveCountMax=3',
    '-N',
    '-L',
    `127.0.0.1:${local}:localhost:${remote}`,
    ...destination(way),
  ];
}

/** Signs in and runs nothing, asking nobody, to find out why an ssh has failed. */
export function probeArgv(way: Way, manner: Manner): string[] {
  return [
    'ssh',
    '-o',
    'BatchMode=yes',
    '-o',
    'ConnectTimeout=5',
    '-o',
    'ControlMaster=no',
    '-o',
    'ControlPath=none',
    '-o',
    'ClearAllForwardings=yes',
    '-N',
    ...options(way, manner),
    ...destination(way),
  ];
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** In the name of a key's file, `%d` and its like stand for something else. */
function withoutTokens(path: string): string {
  return path.replaceAll('%', '%%');
}

/** A path as one word of ssh's configuration, on every system with slashes. */
export function configWord(path: string): string {
  const plain = withoutTokens(path.replaceAll('\\', '/'));
  return /^[^\s"'#]+$/.test(plain) ? plain : `"${plain}"`;
}
