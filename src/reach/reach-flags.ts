import { Option } from '../cli/command.ts';
import { ruled, ruledEach } from '../cli/parse.ts';
import { broken, kept, type Verdict } from '../rules/rule.ts';
import type { WaitTimes } from '../watch/flags.ts';
import { sshPort, userName } from './way.ts';

/** How a machine is to be reached: what ssh, scp and tunnel have in common. */
export interface ReachInput {
  readonly user: string | undefined;
  readonly port: number | undefined;
  readonly identity: string | undefined;
  readonly sshOptions: readonly string[];
  readonly sshWords: readonly string[];
  /** Wait until the machine answers; undefined to try at once. */
  readonly wait: WaitTimes | undefined;
}

/** What commander makes of {@link reachOptions} and of the flags of waiting. */
interface ReachFlags {
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  readonly identity?: string | undefined;
  readonly sshOption?: readonly string[] | undefined;
  readonly sshArg?: readonly string[] | undefined;
  readonly wait?: true | undefined;
  readonly waitTimeout: number;
  readonly pollInterval: number;
}

export function reachInput(flags: ReachFlags): ReachInput {
  return {
    user: flags.user,
    port: flags.port,
    identity: flags.identity,
    sshOptions: flags.sshOption ?? [],
    sshWords: flags.sshArg ?? [],
    wait:
      flags.wait === true
        ? { timeout: flags.waitTimeout, interval: flags.pollInterval }
        : undefined,
  };
}

/** The flags of {@link ReachInput}, but for those of waiting. Each call makes new ones. */
export function reachOptions() {
  return {
    user: new Option(
      '--user <name>',
      'the user on the machine (default: as the service tells)',
    ).argParser(ruled('--user', userName)),
    port: new Option(
      '--port <number>',
      'the port of SSH (default: as the service tells)',
    ).argParser(ruled('--port', sshPort)),
    identity: new Option('-i, --identity <file>', 'the file of the private key to sign in with'),
    sshOption: new Option(
      '--ssh-option <key=value>',
      'an option as in ssh_config; may be repeated',
    ).argParser(ruledEach('--ssh-option', sshOption)),
    sshArg: new Option(
      '--ssh-arg <word>',
      'one word more for ssh, such as -A; may be repeated',
    ).argParser(ruledEach('--ssh-arg', sshWord)),
  };
}

function sshOption(text: string): Verdict<string> {
  return /^[A-Za-z][A-Za-z0-9]*[= ]./.test(text)
    ? kept(text)
    : broken('an option of ssh is written Key=value, such as ServerAliveInterval=30');
}

/** A word that is no option would be taken for the machine's name. */
function sshWord(text: string): Verdict<string> {
  return /^-[^-]/.test(text)
    ? kept(text)
    : broken(
        'a word for ssh starts with "-"; a value follows without a blank, as in -Jjump.example',
      );
}
