import { refuseSecret } from '../../cli/parse.ts';
import { usageError } from '../../errors.ts';

/** What can be a flag that was mistyped; anything else that starts with a hyphen is not repeated. */
const FLAG = /^--?[A-Za-z][A-Za-z-]{0,30}(?==|$)/;

/**
 * Refuses flags that do not exist, further arguments, and a key in the place of a file, in place of
 * commander, which would repeat them.
 */
export function checkArguments(args: readonly string[]): void {
  for (const text of args) {
    refuseSecret('FILE', text);
  }
  const stray = args.find((text) => text.startsWith('-') && text !== '-');
  if (stray !== undefined) {
    const flag = FLAG.exec(stray)?.[0];
    throw usageError(
      flag === undefined ? 'an unknown option (it is not shown)' : `unknown option '${flag}'`,
      'the options: gpucloud ssh-keys add --help',
    );
  }
  if (args.length > 1) {
    throw usageError(
      `too many arguments: one FILE is expected, and there are ${args.length}`,
      'a key itself is given on stdin, with -',
    );
  }
  const [file] = args;
  if (file !== undefined && /[\r\n]|^(ssh|ecdsa|sk)-\S+ +AAAA/.test(file)) {
    throw usageError(
      'FILE: this is no file but the text of a key (it is not shown)',
      'give the key on stdin, with -',
    );
  }
}
