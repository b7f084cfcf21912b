import type { Drive } from '../../api/index.ts';
import { kopecksText, money } from '../../rules/money.ts';

/** What a drive costs, in words: `6.00 RUB an hour`. A price that can't be read is shown as it is. */
export function hourly({ price_per_hour: price }: Pick<Drive, 'price_per_hour'>): string {
  if (price === undefined || price === null || price === '') {
    return 'the service told no price';
  }
  const amount = money(price);
  return amount.ok ? `${kopecksText(amount.value)} RUB an hour` : `price per hour "${price}"`;
}
