import { clean } from '../../rules/clean.ts';
import { withoutKeys } from '../../rules/secrets.ts';
import type { HttpResponse } from '../http/exchange.ts';
import { masked } from './secrets.ts';

const MOST_CHARACTERS = 200;
const LONGEST_TITLE = 80;

/**
 * Returns an unsuccessful response's message, cleaned and cut to 200 characters. Reads both
 * documented shapes (API document: Errors), a list of messages, an empty body, HTML and anything
 * else. Removes API keys and what `hide` removes before cutting, so that no part of a secret
 * remains.
 */
export function messageOf(response: HttpResponse, hide: (text: string) => string): string {
  if (response.problem !== undefined) return `the response ${response.problem}`;
  const text = response.text.trim();
  // Hides secrets before and after cleaning, since cleaning can join the parts of a secret.
  const cut = (words: string, most: number) =>
    shortened(withoutKeys(hide(oneLine(hide(words)))).trim(), most);
  if (isWebPage(response)) {
    // Reads only the start of a page: the title is there.
    const found = /<title[^>]*>([^<]{1,500})/i.exec(text.slice(0, 20_000))?.[1] ?? '';
    const title = cut(found, LONGEST_TITLE);
    return `an HTML page${title === '' ? '' : ` ("${title}")`}, perhaps from a proxy`;
  }
  return cut(jsonMessage(text), MOST_CHARACTERS) || 'no explanation given';
}

/** Whether a response is a web page. The service itself sends JSON (API document: Conventions). */
export function isWebPage({ text, headers }: Pick<HttpResponse, 'text' | 'headers'>): boolean {
  const start = text.trimStart();
  if (/^(<!doctype html|<html|<head|<\?xml[^>]*>\s*<(!doctype html|html))/i.test(start))
    return true;
  return start !== '' && !/^[{["]/.test(start) && /\bhtml\b/i.test(headers['content-type'] ?? '');
}

function jsonMessage(text: string): string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof json === 'string') return json;
  if (typeof json !== 'object' || json === null) return text;
  const { message, error }: { message?: unknown; error?: unknown } = json;
  for (const candidate of [message, error]) {
    if (typeof candidate === 'string' && candidate.trim() !== '') return candidate;
    if (Array.isArray(candidate)) {
      const texts = candidate.filter((item) => typeof item === 'string');
      if (texts.length > 0) return texts.join('; ');
    }
  }
  // Without a message, the response may be an object with secrets, such as a new API key.
  return JSON.stringify(masked(json));
}

/** Returns untrusted text as one line that can't control a terminal. */
export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, ' ').trim();
}

/** Cuts a text to at most `most` characters, never inside a character. */
export function shortened(text: string, most: number): string {
  const characters = [...text.slice(0, most * 2 + 2)];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}
