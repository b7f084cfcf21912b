import { Option } from '../../command-line/command.ts';
import { brokenRule, ruled } from '../../command-line/parse.ts';
import { usageError } from '../../errors.ts';
import { instanceName, newInstanceName } from '../../rules/names.ts';
import { wholeNumber } from '../../rules/numbers.ts';

/** Maximum instances per command. A larger number is probably a typo. */
export const MOST_INSTANCES = 32;

const countRule = (text: string) => wholeNumber(text, 1, MOST_INSTANCES);

export function countOption() {
  return new Option('--count <n>', 'create N instances, NAME-1 to NAME-N').argParser(
    ruled('--count', countRule),
  );
}

export function minCountOption() {
  return new Option(
    '--min-count <m>',
    'terminate all new instances if fewer than M succeed (with --count)',
  ).argParser(ruled('--min-count', countRule));
}

export interface CountFlags {
  readonly count?: number | undefined;
  readonly minCount?: number | undefined;
}

/** The flags and their source, as `Given` has them. */
interface GivenCount {
  readonly flags: CountFlags & { readonly drive?: string | undefined };
  from(flag: keyof GivenCount['flags']): string;
  isOfFile(flag: 'count'): boolean;
}

/** Throws a usage error for conflicting flags or fields of a file. */
export function checkCount({
  flags: { count, minCount, drive },
  from,
  isOfFile,
}: GivenCount): void {
  if (count === undefined) {
    if (minCount !== undefined) throw usageError(`${from('minCount')} needs --count`);
    return;
  }
  const word = isOfFile('count') ? 'count' : '--count';
  if (minCount !== undefined && minCount > count) {
    throw usageError(`${from('minCount')} ${minCount}: must not exceed ${word} ${count}`);
  }
  if (drive !== undefined && count > 1) {
    throw usageError(
      `${from('drive')} can't be combined with ${word} ${count}: a drive can be attached to only one instance`,
    );
  }
}

/** Returns numbered names: `trainer-1` to `trainer-4`. */
export function numbered(base: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${base}-${at + 1}`);
}

/** Returns the rule that the name, or the longest numbered name, breaks. */
export function brokenName(base: string, count: number | undefined): string | undefined {
  const verdict = newInstanceName(base);
  if (!verdict.ok) return verdict.rule;
  const last = `${base}-${count}`;
  if (count === undefined || instanceName(last).ok) return undefined;
  return `is too long for --count ${count}: ${last} has ${last.length} characters, and 50 are allowed`;
}

/** Returns the names of several instances. Throws a usage error for an invalid name. */
export function numberedNames(base: string, count: number): string[] {
  const broken = brokenName(base, count);
  if (broken !== undefined) throw brokenRule('NAME', base, broken);
  return numbered(base, count);
}
