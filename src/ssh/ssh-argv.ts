import type { SshEndpoint } from '../watch/ssh-endpoint.ts';
import type { Copy } from './copy.ts';

/** Options for the system's ssh. */
export interface SshOptions {
  /** gpucloud's own file of host keys; the user's file stays unchanged. */
  readonly knownHosts: string;
  /** A private key file; without one, ssh chooses among the user's keys. */
  readonly identity?: string | undefined;
  /** Program whose stdin and stdout are the connection; undefined to connect to the address. */
  readonly proxy?: string | undefined;
  /** `Key=value`, as in ssh's configuration. These options override gpucloud's options. */
  readonly options: readonly string[];
  /** More arguments for ssh, unchanged. */
  readonly words: readonly string[];
}

/**
 * Returns the arguments that ssh, scp and the inventories of other programs share.
 *
 * Host keys are stored per instance ID. Addresses are reused: a new instance at an old address must
 * not look like an attack, nor an attack like a new instance. The service publishes no host keys,
 * so ssh stores the first key that it sees and refuses any other.
 */
export function shared({ id }: Pick<SshEndpoint, 'id'>, ssh: SshOptions): string[] {
  const { identity, proxy } = ssh;
  return [
    ...ssh.words,
    ...asOptions(ssh.options),
    // Keeps ssh from offering the agent's other keys before the given key.
    ...(identity === undefined
      ? []
      : ['-i', withoutTokens(identity), ...asOptions(['IdentitiesOnly=yes'])]),
    ...asOptions([
      ...(proxy === undefined ? [] : [`ProxyCommand=${proxy}`]),
      `HostKeyAlias=${id}`,
      `UserKnownHostsFile=${configWord(ssh.knownHosts)}`,
      'StrictHostKeyChecking=accept-new',
      // Older ssh versions also compare the key stored for the address.
      'CheckHostIP=no',
    ]),
  ];
}

function asOptions(options: readonly string[]): string[] {
  return options.flatMap((option) => ['-o', option]);
}

/** ssh reads nothing after `--` as an option, not even words of the remote command. */
function destination({ user, host, port }: SshEndpoint): string[] {
  return ['-p', String(port), '--', `${user}@${host}`];
}

export interface Entering {
  /** The remote command; if empty, starts the user's shell. */
  readonly command: readonly string[];
  /** Whether to request a terminal even if there is a command. */
  readonly tty?: boolean;
}

/** Returns the command line of `ssh`, starting with the program. */
export function sshArgv(
  endpoint: SshEndpoint,
  ssh: SshOptions,
  { command, tty }: Entering,
): string[] {
  const terminal = tty === true ? ['-t'] : [];
  return ['ssh', ...shared(endpoint, ssh), ...terminal, ...destination(endpoint), ...command];
}

interface Copying extends Omit<Copy, 'instance'> {
  readonly recursive?: boolean;
  readonly preserve?: boolean;
}

export function scpArgv(endpoint: SshEndpoint, ssh: SshOptions, copying: Copying): string[] {
  const { user, host, port } = endpoint;
  const there = (path: string) => `${user}@${host.includes(':') ? `[${host}]` : host}:${path}`;
  // scp's helper programs would read a leading hyphen as an option.
  const here = (path: string) => (path.startsWith('-') ? `./${path}` : path);
  const [from, to] = copying.from === 'here' ? [here, there] : [there, here];
  return [
    'scp',
    ...shared(endpoint, ssh),
    ...(copying.recursive === true ? ['-r'] : []),
    ...(copying.preserve === true ? ['-p'] : []),
    '-P',
    String(port),
    '--',
    ...copying.sources.map(from),
    to(copying.target),
  ];
}

/** A shared connection would outlive this command and keep its port. */
const UNSHARED = ['ControlMaster=no', 'ControlPath=none'];

/** ssh detects a dead connection within 45 seconds. */
const ALIVE = ['ServerAliveInterval=15', 'ServerAliveCountMax=3'];

export interface Forwarding {
  /** A port on this computer. */
  readonly local: number;
  /** A port on the instance. */
  readonly remote: number;
}

/** Returns the command line of the `ssh` that keeps a tunnel open, on loopback at both ends. */
export function tunnelArgv(
  endpoint: SshEndpoint,
  ssh: SshOptions,
  { local, remote }: Forwarding,
): string[] {
  return [
    'ssh',
    ...shared(endpoint, ssh),
    ...asOptions([...UNSHARED, 'ExitOnForwardFailure=yes', ...ALIVE]),
    '-N',
    '-L',
    `127.0.0.1:${local}:localhost:${remote}`,
    ...destination(endpoint),
  ];
}

/**
 * Turns off agent and display forwarding, which the user's configuration may enable for every host.
 * The user's flags still win: ssh uses the first value of an option, and these options come last.
 */
const UNATTENDED = ['ForwardAgent=no', 'ForwardX11=no'];

/** An ssh that runs commands without a terminal and never prompts. */
interface Batch {
  /** The program and its options, including the port. */
  readonly words: string[];
  readonly user: string;
  readonly host: string;
}

export function batchSsh(endpoint: SshEndpoint, ssh: SshOptions): Batch {
  const quick = ['BatchMode=yes', 'ConnectTimeout=15', 'LogLevel=ERROR'];
  const own = asOptions([...quick, ...UNSHARED, ...ALIVE, 'ClearAllForwardings=yes']);
  const { user, host, port } = endpoint;
  const words = [...shared(endpoint, ssh), ...asOptions(UNATTENDED)];
  return { words: ['ssh', ...own, '-T', ...words, '-p', String(port)], user, host };
}

/**
 * Returns the command line that signs in without prompts and runs nothing, to find out why ssh
 * failed.
 */
export function probeArgv(endpoint: SshEndpoint, ssh: SshOptions): string[] {
  return [
    'ssh',
    ...asOptions(['BatchMode=yes', 'ConnectTimeout=5', ...UNSHARED, 'ClearAllForwardings=yes']),
    '-N',
    ...shared(endpoint, ssh),
    ...asOptions(UNATTENDED),
    ...destination(endpoint),
  ];
}

/** Escapes percent signs: ssh replaces `%d` and similar sequences in a key's file name. */
function withoutTokens(path: string): string {
  return path.replaceAll('%', '%%');
}

/** Formats a path as one word of ssh's configuration, with slashes on every system. */
export function configWord(path: string): string {
  const plain = withoutTokens(path.replaceAll('\\', '/'));
  return /^[^\s"'#]+$/.test(plain) ? plain : `"${plain}"`;
}
