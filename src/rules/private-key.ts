/**
 * Whether a text is, or holds, a private key in a form that SSH programs write: PEM (OPENSSH, RSA,
 * EC, DSA, PKCS #8), PuTTY, the old SSH 1 and SSH.com files, or the bare base64 of an OpenSSH one.
 *
 * It errs on the side of yes: what it names is never sent and never repeated on the screen.
 */
export function holdsPrivateKey(text: string): boolean {
  // Windows writes UTF-16, whose zero bytes would hide the words.
  const plain = text.replaceAll('\0', '');
  // Every word of every command line comes by here: the plain search that goes first is quick.
  return (
    (plain.includes('PRIVATE KEY') && /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY/.test(plain)) ||
    plain.includes('PuTTY-User-Key-File-') ||
    (plain.includes('Private-Lines:') && /^Private-Lines:/m.test(plain)) ||
    plain.includes('SSH PRIVATE KEY FILE FORMAT') ||
    // "openssh-key-v1", with which the base64 of every OpenSSH private key starts.
    plain.includes('b3BlbnNzaC1rZXktdj')
  );
}
