type Env = Readonly<Record<string, string | undefined>>;

/** Whether the locale is `LC_ALL=C` or similar: the terminal may garble a rouble sign. */
export function lacksRoubleSign({ LC_ALL, LC_CTYPE, LANG }: Env): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return locale !== '' && !/utf-?8/i.test(locale);
}

export function withoutRoubleSign(text: string): string {
  return text.replaceAll('₽', 'RUB');
}
