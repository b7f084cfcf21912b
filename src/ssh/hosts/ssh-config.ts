import { existsSync } from 'node:fs';
import { chmod, lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { drivesUnread, isReadNow, readKnownInstances } from '../../instances/known-instances.ts';
import { mayBill } from '../../rules/statuses.ts';
import { printedBy } from '../../ssh-keys/private-half.ts';
import { faultOf } from '../../system/error-code.ts';
import { makeFolders, replaceFile } from '../../system/files.ts';
import { inTemporaryFolder } from '../../system/temporary-folder.ts';
import { knownSshEndpoint, type SshEndpoint } from '../../watch/ssh-endpoint.ts';
import { configWord, type SshOptions } from '../ssh-argv.ts';

/** An instance with its host names for ssh. */
export interface HostEntry {
  readonly instance: Instance;
  /** The instance's name if it is unique and ssh accepts it, otherwise its ID. */
  readonly name: string;
  /** `gpucloud-NAME` if the name is unique, and `gpucloud-ID`. */
  readonly hosts: readonly string[];
  readonly endpoint: SshEndpoint;
}

/** Returns the entries of all instances that ssh can reach. `user` overrides the service's. */
export function hostEntries(instances: readonly Instance[], user?: string): HostEntry[] {
  const uses = new Map<string, number>();
  for (const { id, name } of instances) uses.set(name ?? id, (uses.get(name ?? id) ?? 0) + 1);
  return instances.flatMap((instance) => {
    const { id, status, name } = instance;
    // A terminating instance can't be reached, even if it still has an address.
    const endpoint = mayBill(status) ? knownSshEndpoint(instance, user) : undefined;
    if (endpoint === undefined) return [];
    const own = name != null && isHostName(name) && uses.get(name) === 1;
    const hosts = [...(own ? [`gpucloud-${name}`] : []), `gpucloud-${id}`];
    return [{ instance, name: own ? name : id, endpoint, hosts }];
  });
}

/** Reads all known instances. Warns about instances that could not be read. */
export async function readEntries(context: Context, user?: string): Promise<HostEntry[]> {
  const api = await context.api();
  const known = await readKnownInstances(
    { all: false, drives: api.drives.list(), now: context.clock.now() },
    api,
    context,
  );
  if (known.driveFault !== undefined)
    context.err.warn('incomplete', drivesUnread(known.driveFault));
  const [fault] = known.faults;
  if (fault !== undefined && known.faults.length === known.requested) throw fault;
  if (fault !== undefined) {
    context.err.warn(
      'incomplete',
      `Could not read ${known.faults.length} of ${known.requested} instances: ${fault.message}`,
    );
  }
  return hostEntries(known.rows.filter(isReadNow), user);
}

/** Whether a name contains only characters without a meaning in ssh's host patterns. */
function isHostName(name: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9])?$/.test(name);
}

/** Returns the lines of ssh's configuration for one instance. */
export function hostBlock(
  { hosts, endpoint }: Pick<HostEntry, 'hosts' | 'endpoint'>,
  { knownHosts, identity, proxy, options }: Omit<SshOptions, 'words'>,
): string {
  return [
    `Host ${hosts.join(' ')}`,
    // ssh uses the first value that it finds for an option.
    ...options.map((option) => `  ${option.replace(/[= ]/, ' ')}`),
    `  HostName ${endpoint.host}`,
    `  Port ${endpoint.port}`,
    `  User ${endpoint.user}`,
    ...(identity === undefined
      ? []
      : [`  IdentityFile ${configWord(identity)}`, '  IdentitiesOnly yes']),
    `  HostKeyAlias ${endpoint.id}`,
    `  UserKnownHostsFile ${configWord(knownHosts)}`,
    '  StrictHostKeyChecking accept-new',
    '  CheckHostIP no',
    ...(proxy === undefined ? [] : [`  ProxyCommand ${proxy}`]),
    '',
  ].join('\n');
}

/** gpucloud's configuration file for ssh, one per profile. */
interface HostsFile {
  readonly path: string;
  /** Line that makes ssh read the files of all profiles. */
  readonly include: string;
}

export async function hostsFile(context: Context): Promise<HostsFile> {
  const folder = join((await context.folders()).state, 'ssh');
  const { profile } = await context.settings();
  return {
    // `@` marks a run without a profile: profile names contain no `@`. ssh's pattern skips names
    // that start with a dot.
    path: join(folder, `${(profile?.value ?? '@environment').replace(/^\./, '@.')}.conf`),
    include: `Include ${configWord(join(folder, '*.conf'))}`,
  };
}

/**
 * Removes the host names that another profile's file gives to another instance, and warns about
 * each: ssh would use the first file, and so connect to the wrong instance. Keeps `gpucloud-ID`.
 */
export async function withoutTaken(
  entries: readonly HostEntry[],
  context: Context,
): Promise<HostEntry[]> {
  const others = await otherFiles((await hostsFile(context)).path);
  return entries.map((entry) => {
    const { endpoint, hosts, name } = entry;
    const own = `gpucloud-${endpoint.id}`;
    const isTaken = (host: string) => {
      const other = others.find(({ blocks }) =>
        blocks.some((names) => names.includes(host) && !names.includes(own)),
      );
      if (other === undefined) return false;
      context.err.warn(
        'host_taken',
        `${host} already connects to an instance of ${other.whose}, so it was left out. To connect to ${name}: ssh ${own}. To use the name here, delete ${other.path} and install again.`,
      );
      return true;
    };
    return { ...entry, hosts: hosts.filter((host) => host === own || !isTaken(host)) };
  });
}

/** Returns the files of the other profiles, with the host names of each of their blocks. */
async function otherFiles(path: string) {
  const folder = dirname(path);
  try {
    const names = existsSync(folder) ? await readdir(folder) : [];
    const others = names.filter((name) => /^[^.].*\.conf$/.test(name) && name !== basename(path));
    return await Promise.all(
      others.sort().map(async (name) => {
        const profile = name.replace(/\.conf$/, '').replace(/^@\./, '.');
        const text = await readFile(join(folder, name), 'utf8');
        return {
          path: join(folder, name),
          whose: profile === '@environment' ? "GPUCLOUD_API_KEY's account" : `profile ${profile}`,
          blocks: [...text.matchAll(/^Host (.+)$/gm)].map(([, hosts = '']) => hosts.split(' ')),
        };
      }),
    );
  } catch (error) {
    throw new CliError('storage', `Could not read ${folder} (${faultOf(error)}).`, {
      cause: error,
    });
  }
}

/**
 * Throws a usage error for a folder that `Include` can't name: ssh reads a quote as its end, and
 * `*`, `?`, `[` and, in some versions, `%` and `${` as patterns. A faulty line would break every ssh.
 */
export async function ensureIncludable(context: Context): Promise<void> {
  const { state } = await context.folders();
  const isWindows = context.host.platform === 'win32';
  const [wrong] = (isWindows ? /["%*?[]|\$\{/ : /["\\%*?[]|\$\{|[\r\n]/).exec(state) ?? [];
  if (wrong === undefined) return;
  throw usageError(
    `--install: ssh can't include a file from ${state}: its path contains ${JSON.stringify(wrong)}`,
    'set GPUCLOUD_STATE_DIR to another path, or print the configuration without --install',
  );
}

/** Throws a usage error with ssh's reason if ssh rejects the line. Passes without an ssh to ask. */
export async function ensureAccepted({ include }: HostsFile, context: Context): Promise<void> {
  const { code, errors } = await inTemporaryFolder('gpucloud-ssh', async (folder) => {
    const config = join(folder, 'config');
    await replaceFile(config, `${include}\n`);
    return printedBy('ssh', ['-F', config, '-G', 'localhost'], context);
  });
  if (code === 0 || code === 127) return;
  const [reason = ''] = errors.trim().split(/\r?\n/);
  throw usageError(`--install: ssh rejects the line ${include}: ${reason}`);
}

/** Replaces gpucloud's file. Throws CliError('storage'). */
export async function writeHosts({ path, include }: HostsFile, hosts: string): Promise<void> {
  const head = [
    '# Written by "gpucloud instances ssh-config --install"; run it again to renew this file.',
    '# To uninstall, delete this file, and from ~/.ssh/config the line',
    `#   ${include}`,
  ];
  try {
    await replaceFile(path, `${head.join('\n')}\n\n${hosts}`);
  } catch (error) {
    throw new CliError('storage', `Could not write ${path} (${faultOf(error)}).`, {
      cause: error,
    });
  }
}

/** Reads the file as one character per byte, so that invalid UTF-8 stays unchanged. */
const BYTES = 'latin1';

/**
 * Adds a line at the top of the user's configuration, where it applies to every host. Changes
 * nothing else: content, mode, owner and a symbolic link stay. Returns false if the line exists.
 *
 * @throws CliError `storage`.
 */
export async function addInclude(config: string, include: string): Promise<boolean> {
  const line = Buffer.from(include).toString(BYTES);
  try {
    const before = await read(config);
    const text = before?.text ?? '';
    if (hasLine(text, line)) return false;
    const end = text.includes('\r\n') ? '\r\n' : '\n';
    const after = Buffer.from(`${line}${end}${text}`, BYTES);
    if (before === undefined) await makePrivateFolder(dirname(config));
    await replaceFile(before?.path ?? config, after, before ? before.keep : {});
    return true;
  } catch (error) {
    throw new CliError('storage', `Could not change ${config} (${faultOf(error)}).`, {
      hint: `add this line by hand: ${include}`,
      cause: error,
    });
  }
}

/** A line below the first `Host` or `Match` would apply only to some hosts. */
function hasLine(text: string, line: string): boolean {
  const lines = text.split('\n').map((one) => one.trim());
  const block = lines.findIndex((one) => /^(?:host|match)[\s=]/i.test(one));
  return (block < 0 ? lines : lines.slice(0, block)).includes(line);
}

/** Returns undefined if there is no file. */
async function read(config: string) {
  let path: string;
  try {
    path = await realpath(config);
  } catch (error) {
    // Leaves a dangling symlink unchanged: the user made it, and its target may return.
    const isLink = await lstat(config).then(
      () => true,
      () => false,
    );
    if (isLink) throw error;
    return undefined;
  }
  const { mode, uid, gid } = await stat(path);
  const text = await readFile(path, BYTES);
  return { path, text, keep: { mode: mode & 0o7777, owner: { uid, gid } } };
}

async function makePrivateFolder(path: string): Promise<void> {
  if (makeFolders(path, 0o700) !== undefined) await chmod(path, 0o700);
}
