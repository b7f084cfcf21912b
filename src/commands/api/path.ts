import { broken, kept, type Verdict } from '../../rules/rule.ts';

/**
 * A path below the base URL, with a query or without one. Nothing in it may lead anywhere else: not
 * for this program, for a proxy on the way, or for a server that decodes once more.
 */
export function apiPath(text: string): Verdict<string> {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) || text.startsWith('//')) {
    return broken(
      'a path stays below the base URL of the profile, so it holds no scheme and no host',
    );
  }
  if (!text.startsWith('/')) {
    return broken('a path starts with a slash, such as /users/me');
  }
  if (text.includes('\\')) {
    return broken('a path holds no backslash');
  }
  if (text.includes('#')) {
    return broken('a path holds no fragment (#)');
  }
  if (!/^[!-~]*$/.test(text) || /["<>^`{|}]/.test(text)) {
    return broken('a path is percent-encoded where it is more than plain ASCII');
  }
  const [path = ''] = text.split('?', 1);
  for (const segment of path.split('/')) {
    const plain = decoded(segment);
    if (plain === undefined) {
      return broken('what is percent-encoded in a path is UTF-8');
    }
    if (plain === '.' || plain === '..' || /[/\\?#%\u0000-\u001f\u007f]/.test(plain)) {
      return broken('a segment of a path is no "." or "..", and hides no slash, "?", "#" or "%"');
    }
  }
  return kept(text);
}

/** What a server will make of a path: decoded, in small letters, without empty segments. */
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
