import { formatOf, type GlobalFlags, type Host } from '../context.ts';
import { usageError } from '../errors.ts';
import type { AnyCommand } from './command.ts';
import { globalFlagsOf } from './globals.ts';

/**
 * The global flags of a command, and with `--watch` or `--follow` the format of something that has
 * no end: JSON is a line for each change or event, since an array would never be closed. So is a
 * view to `--watch` that nobody asked to be a table, where there is no terminal to redraw one in.
 */
export function flagsFor(command: AnyCommand, host: Pick<Host, 'stdout' | 'env'>): GlobalFlags {
  const flags = globalFlagsOf(command);
  const { watch, follow } = command.opts();
  if (watch !== true && follow !== true) return flags;
  const format = formatOf(flags, host.env);
  const isAsked = flags.output !== undefined || (host.env.GPUCLOUD_OUTPUT ?? '') !== '';
  const isUnseen = watch === true && format === 'table' && !isAsked && host.stdout.isTTY !== true;
  const isView = format === 'table' && host.stdout.isTTY === true;
  if (watch === true && flags.sort !== undefined && !isView) {
    throw usageError('--sort: of rows that come as they change, only a view can be sorted');
  }
  if (format !== 'json' && !isUnseen) return flags;
  const { json: _json, ...others } = flags;
  return { ...others, output: 'jsonl' };
}
