import { basename } from 'node:path';
import { usageError } from '../../errors.ts';
import { shellLine } from '../../output/shell-line.ts';

/** Whether REMOTE of `--fetch` is a pattern for the instance's sh to expand. */
export function isPattern(remote: string): boolean {
  return /[*?[]/.test(remote);
}

/**
 * Throws a usage error for a pattern that shells read differently, or whose matches would all have
 * the same name.
 */
export function ensurePlain(pattern: string): void {
  const isOpen = partsOf(pattern).includes('[');
  if (isOpen || /\\|\[[:.=]/.test(pattern)) {
    throw usageError(`--fetch "${pattern}": a pattern may contain only *, ? and [a-z]`);
  }
  const name = basename(pattern);
  if (isPattern(name)) return;
  throw usageError(
    `--fetch "${pattern}": all matches have the same name, "${name}"`,
    `fetch the folders: --fetch ${shellLine([folderOf(pattern)])}`,
  );
}

/**
 * Returns the folder above the first part with a wildcard. If that folder has no name, returns the
 * part itself.
 */
function folderOf(pattern: string): string {
  const parts = pattern.split('/');
  const first = parts.findIndex(isPattern);
  const above = parts.slice(0, first);
  return /^\.{0,2}$/.test(above.at(-1) ?? '')
    ? parts.slice(0, first + 1).join('/')
    : above.join('/');
}

/**
 * Matches the names that an instance may send for a pattern, byte by byte as sh does. A hostile
 * instance may send other names.
 */
export function matcherOf(pattern: string): (name: string) => boolean {
  const last = bytesOf(basename(pattern));
  const hidden = /^[*?[]/.test(last) ? '(?!\\.)' : '';
  const whole = new RegExp(`^${hidden}${partsOf(last).map(expressionOf).join('')}$`, 's');
  return (name) => whole.test(bytesOf(name)) || bytesOf(name) === last;
}

/** Parses the pattern's characters and sets. */
function partsOf(pattern: string): readonly string[] {
  return pattern.match(/\[[!^]?\]?[^\]]*\]|./gs) ?? [];
}

/** Represents each byte as one character. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function expressionOf(part: string): string {
  if (part === '*') return '.*';
  if (part === '?') return '.';
  const [, not, set] = /^\[([!^]?)(.+)\]$/s.exec(part) ?? [];
  if (set === undefined) return part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return `[${not === '' ? '' : '^'}${set.replace(/[\\^[\]]/g, '\\$&')}]`;
}
