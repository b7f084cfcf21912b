import type { Answer } from '../http/body.ts';
import { clean, shortened } from './clean.ts';

/** Where the fault is when a page comes: the service speaks JSON (API document: Conventions). */
export const PAGE_HINT =
  'The service answers in JSON, so the page comes from something before it, such as a proxy, a sign-in page of the network or a wrong base URL: gpucloud doctor looks at all three.';

const LONGEST_TITLE = 80;

/** Whether an answer is a page for a browser. */
export function isWebPage({ text, headers }: Pick<Answer, 'text' | 'headers'>): boolean {
  const start = text.trimStart();
  return (
    /^(<!doctype html|<html|<head|<\?xml[^>]*>\s*<(!doctype html|html))/i.test(start) ||
    (start.startsWith('<') && /\bhtml\b/i.test(headers['content-type'] ?? '')) ||
    (start !== '' && !/^[{["]/.test(start) && /\btext\/html\b/i.test(headers['content-type'] ?? ''))
  );
}

/** `an HTML page ("502 Bad Gateway"), perhaps of a proxy`. */
export function webPageWords(
  { text }: Pick<Answer, 'text'>,
  hide: (text: string) => string,
): string {
  // Only the beginning is looked at: the head of a page comes first.
  const title = /<title[^>]*>([^<]{1,500})/i.exec(text.slice(0, 20_000))?.[1] ?? '';
  const words = shortened(hide(clean(hide(title.replace(/\s+/g, ' ')))).trim(), LONGEST_TITLE);
  return `an HTML page${words === '' ? '' : ` ("${words}")`}, perhaps of a proxy`;
}
