/**
 * Whether a text contains a private key in a form that SSH programs write: PEM (OPENSSH, RSA, EC,
 * DSA, PKCS #8), PuTTY, the old SSH 1 and SSH.com files, or the bare base64 of an OpenSSH one.
 *
 * It prefers false positives: a match is never sent and never printed.
 */
export function holdsPrivateKey(text: string): boolean {
  // Windows writes UTF-16, whose zero bytes would hide the words.
  const plain = text.replaceAll('\0', '');
  // Every word of every command line is checked, so the fast search comes first.
  return (
    (plain.includes('PRIVATE KEY') && /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY/.test(plain)) ||
    plain.includes('PuTTY-User-Key-File-') ||
    (plain.includes('Private-Lines:') && /^Private-Lines:/m.test(plain)) ||
    plain.includes('SSH PRIVATE KEY FILE FORMAT') ||
    // "openssh-key-v1", the start of every OpenSSH private key in base64.
    plain.includes('b3BlbnNzaC1rZXktdj')
  );
}
