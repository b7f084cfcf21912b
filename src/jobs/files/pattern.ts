import { basename } from 'node:path';
import { usageError } from '../../errors.ts';
import { shellLine } from '../../output/shell-line.ts';

/** Whether REMOTE of `--fetch` is a pattern for the instance's sh to expand. */
export function isPattern(remote: string): boolean {
  return /[*?]/.test(remote);
}

/**
 * Throws a usage error for a path that shells expand in different ways, or a pattern whose matches
 * would all have the same name.
 */
export function ensurePlain(remote: string, flag = '--fetch'): void {
  if (remote.includes('[') || (isPattern(remote) && remote.includes('\\'))) {
    throw usageError(
      `${flag} "${remote}": a pattern may contain only * and ?`,
      'write ? for any one character, also for "["',
    );
  }
  const name = basename(remote);
  if (!isPattern(remote) || isPattern(name)) return;
  throw usageError(
    `${flag} "${remote}": all matches have the same name, "${name}"`,
    `fetch the folders: --fetch ${shellLine([folderOf(remote)])}`,
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
  const hidden = isPattern(last.charAt(0)) ? '(?!\\.)' : '';
  const whole = new RegExp(`^${hidden}${last.replace(/./gs, expressionOf)}$`, 's');
  return (name) => whole.test(bytesOf(name));
}

/** Represents each byte as one character. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function expressionOf(character: string): string {
  if (character === '*') return '.*';
  return character === '?' ? '.' : character.replace(/[$.+(){}|^\]\\]/, '\\$&');
}
