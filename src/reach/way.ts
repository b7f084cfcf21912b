import { CliError } from '../errors.ts';
import { wholeNumber } from '../rules/numbers.ts';
import { broken, kept, type Verdict } from '../rules/rule.ts';

/** What is known of how a machine is entered (API document: Instance). */
export interface Enterable {
  readonly id: string;
  readonly ip_address?: string | null | undefined;
  readonly ssh_username?: string | null | undefined;
  readonly ssh_port?: number | null | undefined;
}

/** The way into a machine. Each part is of a form that can be no option and no second word. */
export interface Way {
  readonly id: string;
  /** An IP address or a host name. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
}

/** What a person may choose in the place of what the service tells. */
export interface Chosen {
  readonly user?: string | undefined;
  readonly port?: number | undefined;
}

/**
 * The way into a machine, as the service tells it.
 *
 * Whatever the service sends ends up in front of ssh and in its configuration, so only what looks
 * exactly like an address, a user and a port is let through: `-oProxyCommand=…`, blanks, line ends
 * and percent signs (which ssh puts values in place of) are none.
 * Throws CliError('wrongState') for what is missing, CliError('notUnderstood') for what is none.
 */
export function wayInto(machine: Enterable, { user, port }: Chosen = {}): Way {
  return {
    id: machine.id,
    ...placeOf(machine, port),
    user: user ?? userOf(machine),
  };
}

/** Where the SSH server of a machine is; throws as {@link wayInto} does. */
export function placeOf(
  machine: Omit<Enterable, 'ssh_username'>,
  port?: number,
): Pick<Way, 'host' | 'port'> {
  const { id } = machine;
  if (machine.ip_address == null || machine.ip_address === '') {
    throw new CliError('wrongState', 'The service gives no address for the machine.', {
      resource: id,
      retryable: true,
      hint: 'a machine has one once it is ACTIVE: add --wait',
    });
  }
  return {
    host: understood(id, 'address', machine.ip_address, host),
    port: port ?? portOf(machine),
  };
}

/** The same without a word: undefined for a machine that can't be entered. */
export function knownWay(machine: Enterable): Way | undefined {
  try {
    return wayInto(machine);
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

function portOf({ id, ssh_port: port }: Enterable): number {
  if (port == null) {
    throw new CliError('wrongState', 'The service gives no SSH port for the machine.', {
      resource: id,
      hint: 'if it is the usual one: --port 22',
    });
  }
  return understood(id, 'SSH port', String(port), sshPort);
}

function userOf({ id, ssh_username: user }: Enterable): string {
  if (user == null || user === '') {
    throw new CliError('wrongState', 'The service gives no user name for the machine.', {
      resource: id,
      hint: 'name one: --user root',
    });
  }
  return understood(id, 'user name', user, userName);
}

function understood<T>(
  id: string,
  what: string,
  text: string,
  rule: (text: string) => Verdict<T>,
): T {
  const verdict = rule(text);
  if (verdict.ok) {
    return verdict.value;
  }
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  throw new CliError(
    'notUnderstood',
    `The service gives ${JSON.stringify(shown)} as the ${what} of the machine: ${verdict.rule}. ssh was not started.`,
    { resource: id },
  );
}

/** An address that ssh may be given as a host. */
export function host(text: string): Verdict<string> {
  const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  // Where the last part is a number, ssh takes the whole for an address in an old way of writing.
  const isName =
    text.length <= 253 &&
    new RegExp(`^${label}(?:\\.${label})*$`).test(text) &&
    /(?:^|\.)[A-Za-z][^.]*$/.test(text);
  return isIPv4(text) || isIPv6(text) || isName
    ? kept(text)
    : broken('an address is an IP address or a name of letters, digits, "." and "-"');
}

function isIPv4(text: string): boolean {
  const part = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
  return new RegExp(`^${part}(?:\\.${part}){3}$`).test(text);
}

/** Without a zone (`fe80::1%eth0`), which is of one computer and no part of a public address. */
function isIPv6(text: string): boolean {
  return /^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*$/.test(text) && URL.canParse(`http://[${text}]/`);
}

/** A user of the machine that ssh may be told. */
export function userName(text: string): Verdict<string> {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(text)
    ? kept(text)
    : broken(
        'a user name has at most 64 letters, digits, ".", "_" and "-", and starts with a letter or "_"',
      );
}

export function sshPort(text: string): Verdict<number> {
  return wholeNumber(text, 1, 65_535, 'a port');
}

/** Addresses that no machine has (RFC 5737): documents use them, and so does the sandbox. */
export function isDocumentation(address: string): boolean {
  return /^(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}$/.test(address);
}
