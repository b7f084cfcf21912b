import type { Answer } from '../http/body.ts';
import { clean, shortened } from './clean.ts';
import { isWebPage, webPageWords } from './web-page.ts';

const MOST_CHARACTERS = 200;

/**
 * What an error answer says, for people: both documented shapes (API document: Errors), a list of
 * messages, an empty body, HTML and whatever else comes; clean, and at most 200 characters.
 * `hide` takes out secrets before the text is cut, so that no part of one stays.
 */
export function said(answer: Answer, hide: (text: string) => string): string {
  if (answer.problem !== undefined) return `an answer that ${answer.problem}`;
  const text = answer.text.trim();
  if (text === '') return 'no explanation given';
  if (isWebPage(answer)) return webPageWords(answer, hide);
  // Hidden both before and after the cleaning, which could put a secret together again.
  return shortened(hide(clean(hide(messageOf(text)))), MOST_CHARACTERS) || 'no explanation given';
}

function messageOf(text: string): string {
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
