import { kopecksText, money } from '../../rules/money.ts';

/** `6.00 RUB/h`; undefined for what is no price. */
export function hourlyText(price: string | null | undefined): string | undefined {
  const amount = money(price ?? '');
  return amount.ok ? `${kopecksText(amount.value)} RUB/h` : undefined;
}
