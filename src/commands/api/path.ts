import { broken, kept, type Verdict } from '../../rules/rule.ts';

/**
 * A path below the base URL, with or without a query. It must stay below it for this program, for a
 * proxy, and for a server that decodes twice.
 */
export function apiPath(text: string): Verdict<string> {
  if (!/^\/(?!\/)[!-~]*$/.test(text) || /[\\#"<>^`{|}]/.test(text)) {
    return broken('must be a path below the base URL in percent-encoded ASCII, such as /users/me');
  }
  const [path = ''] = text.split('?', 1);
  return path.split('/').every(isPlain)
    ? kept(text)
    : broken('a segment must not be "." or "..", or encode a slash, "?", "#" or "%"');
}

function isPlain(segment: string): boolean {
  const text = decoded(segment) ?? '..';
  return text !== '.' && text !== '..' && !/[/\\?#%\u0000-\u001f\u007f]/.test(text);
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
