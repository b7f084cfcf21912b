import { readFileSync, statSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { gpucloud, shellLine } from '../../output/shell-line.ts';
import { clamp } from '../../output/width.ts';
import type { Fetch } from '../files/copy-out.ts';
import { fetchInto } from '../targets.ts';
import { HERE_VARIABLES } from './inventories.ts';

/** Says before the rental that the command runs on this computer, and warns if it uses no instance. */
export function noteLocal(
  words: readonly string[],
  { count, fetch }: { readonly count?: number | undefined; readonly fetch: readonly Fetch[] },
  { err }: Context,
): void {
  const shown = clamp(shellLine(words), 60);
  err.note(`COMMAND runs on this computer, not on the instances: ${shown}`);
  if (usesInstances(words)) return;
  const remedy =
    count === undefined
      ? 'To run it on the instance, leave out --here.'
      : `To run it on each instance: ${eachInstance(count, fetch)}`;
  err.warn(
    'instances_unused',
    `COMMAND mentions none of ${HERE_VARIABLES.join(', ')}, so the instances may bill unused. ${remedy}`,
  );
}

/** Describes how to run a command on each of several instances, with a folder for the results of each. */
export function eachInstance(count: number, fetch: readonly Fetch[]): string {
  const back = fetchInto(fetch, 'NAME-1').map(({ remote, local }) => `${remote}:${local}`);
  const create = ['NAME', '--count', String(count), '--terminate-after', '8h', '--wait=ssh'];
  return `${gpucloud('instances', 'create', ...create)}; then for each: ${gpucloud('run', '--on', 'NAME-1', '--detach', '--sync', '.', ...back.flatMap((one) => ['--fetch', one]), '--', 'COMMAND')}`;
}

/** Scripts are small. Reading a larger file, such as a dataset, would delay the rental. */
const LARGEST_SCRIPT = 1024 * 1024;

/** Whether the command, or a file that it or its `sh -c` names, mentions a variable of `--here`. */
export function usesInstances(words: readonly string[]): boolean {
  const mentions = (text: string) => HERE_VARIABLES.some((variable) => text.includes(variable));
  const pieces = [...words, ...words.flatMap((word) => word.split(/\s+/))];
  return words.some(mentions) || pieces.some((path) => mentions(scriptAt(path)));
}

/** Returns the text of a script; nothing for any other word, or a file that can't be read. */
function scriptAt(path: string): string {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= LARGEST_SCRIPT ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}
