import { broken, kept, type Verdict } from '../../rules/rule.ts';

/**
 * A path below the base URL, with or without a query. It must stay below it for this program, for a
 * proxy, and for a server that decodes twice.
 */
export function apiPath(text: string): Verdict<string> {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) || text.startsWith('//')) {
    return broken('must be a path below the base URL, without scheme and host');
  }
  if (!text.startsWith('/')) {
    return broken('must start with a slash, such as /users/me');
  }
  if (text.includes('\\')) {
    return broken('must not contain a backslash');
  }
  if (text.includes('#')) {
    return broken('must not contain a fragment (#)');
  }
  if (!/^[!-~]*$/.test(text) || /["<>^`{|}]/.test(text)) {
    return broken('other than plain ASCII must be percent-encoded');
  }
  const [path = ''] = text.split('?', 1);
  for (const segment of path.split('/')) {
    const plain = decoded(segment);
    if (plain === undefined) {
      return broken('percent-encoded characters must be UTF-8');
    }
    if (plain === '.' || plain === '..' || /[/\\?#%\u0000-\u001f\u007f]/.test(plain)) {
      return broken('a segment must not be "." or "..", or encode a slash, "?", "#" or "%"');
    }
  }
  return kept(text);
}

/** The path as a server reads it: decoded, lower case, without empty segments. */
export function segmentsOf(path: string): string[] {
  const [way = ''] = path.split('?', 1);
  return way
    .split('/')
    .map((segment) => (decoded(segment) ?? segment).toLowerCase())
    .filter((segment) => segment !== '');
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
