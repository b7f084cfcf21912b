import { slug } from '../../catalog/index.ts';
import { isUuid } from '../../rules/ids.ts';
import { broken, kept, type Verdict } from '../../rules/rule.ts';

/** A name that a person gives to an offer or an image: it must be told from an id, and typed again. */
export function catalogName(text: string): Verdict<string> {
  const name = text.trim();
  if (name === '') {
    return broken('a name is not empty');
  }
  if ([...name].length > 100) {
    return broken('a name is at most 100 characters long');
  }
  if (/\p{C}/u.test(name)) {
    return broken('a name is one line without control characters');
  }
  if (slug(name) === '') {
    return broken('a name holds a letter or a digit');
  }
  if (name.startsWith('-')) {
    return broken('a name does not start with "-", which begins a flag');
  }
  if (isUuid(name)) {
    return broken('a name does not look like an id');
  }
  return kept(name);
}
