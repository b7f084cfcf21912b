import { isIP } from 'node:net';
import { wholeNumber } from './numbers.ts';
import { broken, kept, type Verdict } from './rule.ts';

/** An address that ssh may be given as a host. */
export function sshHost(text: string): Verdict<string> {
  const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  // If the last part is a number, ssh reads the whole as an IPv4 address in an old notation.
  const isName =
    text.length <= 253 &&
    new RegExp(`^${label}(?:\\.${label})*$`).test(text) &&
    /(?:^|\.)[A-Za-z][^.]*$/.test(text);
  // A zone (`fe80::1%eth0`) only means something on one computer.
  const isAddress = isIP(text) !== 0 && !text.includes('%');
  return isAddress || isName
    ? kept(text)
    : broken('an address is an IP address or a name of letters, digits, "." and "-"');
}

/** A user that ssh may be given. */
export function sshUser(text: string): Verdict<string> {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(text)
    ? kept(text)
    : broken(
        'a user name has at most 64 letters, digits, ".", "_" and "-", and starts with a letter or "_"',
      );
}

export function sshPort(text: string): Verdict<number> {
  return wholeNumber(text, 1, 65_535, 'a port');
}

/** Addresses that belong to nobody (RFC 5737). Documents use them, and so does the sandbox. */
export function isDocumentation(address: string): boolean {
  return /^(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}$/.test(address);
}
