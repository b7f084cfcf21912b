import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command, OptionValues } from '../command-line/command.ts';
import { ruled, ruledEach } from '../command-line/parse.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { broken, kept, type Verdict } from '../rules/rule.ts';
import { sshPort, sshUser } from '../rules/ssh.ts';
import { faultOf } from '../system/error-code.ts';
import { pollIntervalOption, waitTimeoutOption } from '../watch/flags.ts';
import type { HowToReach } from './sign-in.ts';

/** Adds the sign-in flags of every command that uses SSH. */
export function withSignInFlags<Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
) {
  return command
    .option('-i, --identity <file>', 'private key file')
    .option('--user <name>', 'user name (default: from the service)', ruled('--user', sshUser))
    .option(
      '--ssh-option <key=value>',
      'ssh_config option (repeatable)',
      ruledEach('--ssh-option', sshOption),
    )
    .option(
      '--ssh-arg <word>',
      'extra argument for ssh, such as -A (repeatable)',
      ruledEach('--ssh-arg', sshWord),
    );
}

/** Adds the flags that ssh, scp and tunnel share. */
export function withSshFlags<Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
) {
  return withSignInFlags(command)
    .option('--port <number>', 'SSH port (default: from the service)', ruled('--port', sshPort))
    .option('--wait', 'wait until SSH responds')
    .addOption(waitTimeoutOption())
    .addOption(pollIntervalOption())
    .option('--print', 'print the command without running it');
}

function sshOption(text: string): Verdict<string> {
  return /^[A-Za-z][A-Za-z0-9]*[= ]./.test(text)
    ? kept(text)
    : broken('must be Key=value, such as ServerAliveInterval=30');
}

/** Checks a word for ssh. Without a leading hyphen, ssh would read it as the host. */
function sshWord(text: string): Verdict<string> {
  return /^-[^-]/.test(text)
    ? kept(text)
    : broken('must start with "-"; add a value without a space, as in -Jjump.example');
}

/** The parsed flags of {@link withSshFlags}. */
interface SshFlags {
  readonly identity?: string | undefined;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  readonly sshOption?: readonly string[] | undefined;
  readonly sshArg?: readonly string[] | undefined;
  readonly wait?: true | undefined;
  readonly waitTimeout?: number;
  readonly pollInterval?: number;
}

/** Throws a usage error for an identity file that can't be read. */
export async function howToReach(flags: SshFlags, context: Context): Promise<HowToReach> {
  const { wait, waitTimeout: timeout = 0, pollInterval: interval = 0 } = flags;
  return {
    user: flags.user,
    port: flags.port,
    identity: await identityFile(flags.identity, context),
    options: flags.sshOption ?? [],
    words: flags.sshArg ?? [],
    wait: wait === true ? { timeout, interval } : undefined,
  };
}

/** Checks the identity file: ssh itself only warns about a missing file, and tries other keys. */
async function identityFile(
  typed: string | undefined,
  { host }: Context,
): Promise<string | undefined> {
  if (typed === undefined) return undefined;
  const { home } = host;
  const isAtHome = home !== undefined && typed.startsWith('~/');
  const path = isAtHome ? join(home, typed.slice(2)) : resolve(typed);
  try {
    await access(path, constants.R_OK);
  } catch (error) {
    throw usageError(
      `--identity "${typed}": can't read the file (${faultOf(error)})`,
      // docker's `-it` reads as `-i t`.
      typed === 't'
        ? `-i is --identity; open a shell: ${gpucloud('instances', 'ssh', 'NAME')}; with a command, add -t for a terminal`
        : undefined,
    );
  }
  // An empty value, such as an unset variable, is the current folder.
  if ((await stat(path)).isDirectory()) {
    throw usageError(`--identity "${typed}": is a folder, not a file`);
  }
  return path;
}
