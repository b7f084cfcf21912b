import { refuseSecret } from '../../cli/parse.ts';
import { usageError } from '../../errors.ts';

/** A possibly mistyped flag; other words that start with a hyphen are not shown. */
const FLAG = /^--?[A-Za-z][A-Za-z-]{0,30}(?==|$)/;

/**
 * Refuses unknown flags, excess arguments, and a key in place of a file. Commander would print them.
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
      'see the options: gpucloud ssh-keys add --help',
    );
  }
  if (args.length > 1) {
    throw usageError(
      `too many arguments: expected one FILE, got ${args.length}`,
      'to pass the key itself, use stdin: -',
    );
  }
  const [file] = args;
  if (file !== undefined && /[\r\n]|^(ssh|ecdsa|sk)-\S+ +AAAA/.test(file)) {
    throw usageError(
      'FILE: this is the text of a key, not a file (it is not shown)',
      'pass the key on stdin: -',
    );
  }
}
