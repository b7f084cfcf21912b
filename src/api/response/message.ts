import type { HttpResponse } from '../http/body.ts';
import { oneLine, shortened } from './one-line.ts';

const MOST_CHARACTERS = 200;
const LONGEST_TITLE = 80;

/**
 * What a response without success says, for people: both documented shapes (API document: Errors), a
 * list of messages, an empty body, HTML and whatever else comes; clean, and at most 200 characters.
 * `hide` takes out secrets before the text is cut, so that no part of one stays.
 */
export function messageOf(response: HttpResponse, hide: (text: string) => string): string {
  if (response.problem !== undefined) return `an answer that ${response.problem}`;
  const text = response.text.trim();
  if (text === '') return 'no explanation given';
  // Hidden both before and after the cleaning, which could put a secret together again.
  const cut = (words: string, most: number) => shortened(hide(oneLine(hide(words))).trim(), most);
  if (isWebPage(response)) {
    // The head of a page comes first, so only its beginning is looked at.
    const found = /<title[^>]*>([^<]{1,500})/i.exec(text.slice(0, 20_000))?.[1] ?? '';
    const title = cut(found, LONGEST_TITLE);
    return `an HTML page${title === '' ? '' : ` ("${title}")`}, perhaps of a proxy`;
  }
  return cut(jsonMessage(text), MOST_CHARACTERS) || 'no explanation given';
}

/** Whether a response is a page for a browser; the service speaks JSON (API document: Conventions). */
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
  return text;
}
