import type { Context } from '../../context.ts';
import { CliError, MAY_BILL } from '../../errors.ts';
import type { RescuedPath as RescuedRow } from '../../json-results/instances.ts';
import { withStop } from '../../output/messages.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { minuteText, relative } from '../../output/time.ts';
import { typedName } from '../../rules/names.ts';
import { sizeText } from '../phases.ts';
import type { RescuedPath } from './copy.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Keeps the side of the failure in the exit code: 9 for this computer, 125 for the instance. */
export function failed(cause: CliError, message: string, details: object): CliError {
  const { failure } = cause;
  const kind = failure === 'storage' || failure === 'authentication' ? failure : 'runFailed';
  return new CliError(kind, message, { ...details, cause });
}

/** `until`: how long the instance is kept; undefined before its deadline. */
export function keptError({ id, name }: Named, cause: CliError, until?: number): CliError {
  const kept =
    until === undefined
      ? ''
      : ` It is kept until ${minuteText(until)} at most, and gpucloud tries again.`;
  return failed(
    cause,
    `Could not copy the --rescue paths of ${name}: ${withStop(cause.message)}${kept}`,
    {
      resource: id,
      mayBeBilling: true,
      hint: `copy them now: ${gpucloud('instances', 'rescue', typedName(name, id))}`,
    },
  );
}

/** The error if an instance was not terminated because of a failure before the copy. */
export function notBegun(named: Named, cause: CliError): CliError {
  const { message } = keptError(named, cause);
  const terminate = ['instances', 'terminate', typedName(named.name, named.id)];
  return cause.with(`${message} It was not terminated. ${MAY_BILL}`, {
    resource: named.id,
    mayBeBilling: true,
    hint: `when that is solved: ${gpucloud(...terminate, '--rescue')}; without copying: ${gpucloud(...terminate)}`,
  });
}

export function lostError(
  { id, name }: Named,
  paths: readonly RescuedPath[],
  cause: CliError,
  now: number,
): CliError {
  // A copy that took too long is no failure of a path.
  const isCut = paths.every((path) => path.copied_at !== null && path.failure === null);
  const what = missingText(paths, ({ failure }) => isCut || failure !== null, now);
  return failed(
    cause,
    `The budget of ${name} was used up, so it was terminated before everything was copied (${what}). ${withStop(cause.message)}`,
    { resource: id },
  );
}

/** Everything was copied, but not after the deadline. */
export function oldText(name: string, paths: readonly RescuedPath[], now: number): string {
  const what = missingText(paths, () => true, now);
  return `The budget of ${name} pays for no copy after its deadline, so later changes of its --rescue paths are lost (${what}).`;
}

/** `isOld`: whether the copy of a path may be older than the path. */
export function missingText(
  paths: readonly RescuedPath[],
  isOld: (path: RescuedPath) => boolean,
  now: number,
): string {
  const lost = paths.filter(({ copied_at }) => copied_at === null).map(({ remote }) => remote);
  const old = paths.flatMap((path) =>
    path.copied_at === null || !isOld(path)
      ? []
      : `${path.remote} is from ${relative(Date.parse(path.copied_at), now)}`,
  );
  return [
    ...(lost.length === 0 ? [] : [`not copied: ${lost.join(', ')}`]),
    ...(old.length === 0 ? [] : [`last copy: ${old.join(', ')}`]),
  ].join('; ');
}

export function rescuedText({ name }: { readonly name: string }, paths: readonly RescuedRow[]) {
  const each = paths.map(({ remote, local, files, bytes }) => {
    const to = `${remote} to ${local}`;
    // Only a comparison counts the files.
    if (files === 0) return to;
    return `${to} (${files} ${files === 1 ? 'file' : 'files'}, ${sizeText(bytes)})`;
  });
  return `Copied from ${name}: ${each.join('; ')}.`;
}

export function warnOfChanging(
  name: string,
  paths: readonly RescuedPath[],
  { err }: Pick<Context, 'err'>,
): void {
  for (const { remote, changing } of paths.filter((path) => path.changing.length > 0)) {
    err.warn(
      'copy',
      `${remote} of ${name} changes faster than it can be copied: the last copy differs in ${changing.join(', ')}`,
    );
  }
}
