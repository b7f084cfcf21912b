import { wholeNumber } from './numbers.ts';
import { broken, kept, type Verdict } from './rule.ts';

/** Checks that an address is safe to pass to ssh as a host. */
export function sshHost(text: string): Verdict<string> {
  const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  // If the last part is a number, ssh reads the whole address as IPv4 in an old notation.
  const isName =
    text.length <= 253 &&
    new RegExp(`^${label}(?:\\.${label})*$`).test(text) &&
    /(?:^|\.)[A-Za-z][^.]*$/.test(text);
  return isIPv4(text) || isIPv6(text) || isName
    ? kept(text)
    : broken('must be an IP address, or a name of letters, digits, "." and "-"');
}

function isIPv4(text: string): boolean {
  const part = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
  return new RegExp(`^${part}(?:\\.${part}){3}$`).test(text);
}

/** Rejects a zone (`fe80::1%eth0`), since it is valid on one computer only. */
function isIPv6(text: string): boolean {
  return /^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*$/.test(text) && URL.canParse(`http://[${text}]/`);
}

export function sshUser(text: string): Verdict<string> {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(text)
    ? kept(text)
    : broken(
        'must have at most 64 letters, digits, ".", "_" and "-", and start with a letter or "_"',
      );
}

export function sshPort(text: string): Verdict<number> {
  return wholeNumber(text, 1, 65_535);
}
