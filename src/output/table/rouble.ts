type Env = Readonly<Record<string, string | undefined>>;

/** `LC_ALL=C` and its like: the terminal may show a rouble sign as noise. */
export function lacksRoubleSign({ LC_ALL, LC_CTYPE, LANG }: Env): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return locale !== '' && !/utf-?8/i.test(locale);
}

export function withoutRoubleSign(text: string): string {
  return text.replaceAll('₽', 'RUB');
}
