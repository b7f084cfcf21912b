/** Why ssh did not get in, as far as its own words tell. */
export type Trouble = 'hostKey' | 'keys' | 'unreachable';

/** ssh speaks English whatever the locale; each pattern is of a line of its own. */
const WORDS: readonly (readonly [Trouble, RegExp])[] = [
  ['hostKey', /^(?:Host key verification failed|@ +WARNING: REMOTE HOST IDENTIFICATION)/m],
  ['keys', /Permission denied \(|Too many authentication failures/],
  [
    'unreachable',
    /Connection refused|timed out|No route to host|Network is unreachable|Could not resolve hostname|kex_exchange_identification|Connection (?:reset|closed) by/,
  ],
];

export function troubleIn(said: string): Trouble | undefined {
  return WORDS.find(([, pattern]) => pattern.test(said))?.[0];
}
