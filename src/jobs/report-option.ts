import { resolve } from 'node:path';
import { Option } from '../command-line/command.ts';
import { usageError } from '../errors.ts';

/** Returns the flag with the file as an absolute path. */
export function reportOption() {
  return new Option('--report <file>', 'write the outcome to a JSON file').argParser((given) => {
    if (given !== '-') return resolve(given);
    throw usageError(
      '--report needs a file, since COMMAND writes to stdout. To report to stderr, use --json.',
    );
  });
}
