import { usageError } from '../errors.ts';
import { FORMATS, type Format } from './output.ts';

/**
 * Reads the name of a format. `source` is what the person wrote it in: a flag or a variable.
 *
 * @throws CliError('usage') that names the source, the value and the valid ones.
 */
export function parseFormat(text: string, source = '--output'): Format {
  const format = FORMATS.find((name) => name === text);
  if (format === undefined) {
    throw usageError(`${source}: no format '${text}'; the formats are ${FORMATS.join(', ')}`);
  }
  return format;
}
