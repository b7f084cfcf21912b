import { resolve } from 'node:path';
import { Option } from '../cli/command.ts';
import { usageError } from '../errors.ts';

/** Takes the absolute path of the file. */
export function reportOption() {
  return new Option('--report <file>', 'write the outcome to a JSON file').argParser((given) => {
    if (given !== '-') return resolve(given);
    throw usageError('--report needs a file: stdout is that of COMMAND; --json reports to stderr');
  });
}
