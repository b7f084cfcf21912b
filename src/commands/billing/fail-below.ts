import { CliError } from '../../errors.ts';
import type { BillingItem } from '../../money/burn.ts';
import { type MoneyFacts, runwayOf, whyUnchecked } from '../../money/facts.ts';
import { spanText } from '../../output/time.ts';
import { inRoubles, type Money, positiveMoney, priceIn } from '../../rules/money.ts';
import { broken, kept, type Rule } from '../../rules/rule.ts';
import { positiveDuration } from '../../rules/times.ts';

/** `--fail-below 24h` or `--fail-below 500`. */
export type Limit =
  /** Milliseconds. */
  { readonly text: string } & ({ readonly lasts: number } | { readonly amount: Money });

export const limit: Rule<Limit> = (text) => {
  const lasts = positiveDuration(text);
  if (lasts.ok) return kept({ text, lasts: lasts.value });
  const amount = positiveMoney(text);
  return amount.ok
    ? kept({ text, amount: amount.value })
    : broken('must be a duration (24h, 3d) or an amount of roubles (500), above zero');
};

/** Exits with 5 if the limit is certainly missed: unknown costs can only make it worse. */
export function shortage(facts: MoneyFacts, failBelow: Limit): CliError | undefined {
  const { balance, runway: lasting, perHour } = facts;
  if (balance === undefined) return undefined;
  const has = `The balance is ${inRoubles(balance)}`;
  const error = (words: string) =>
    new CliError('wrongState', `${words}, under --fail-below ${failBelow.text}.`, {
      hint: "top up the balance, or terminate what you don't need: gpucloud status",
    });
  if ('amount' in failBelow) {
    return balance.lt(failBelow.amount) ? error(has) : undefined;
  }
  if (balance.lt(0)) return error(`${has} (negative)`);
  if (lasting === undefined || lasting.seconds.times(1000).gte(failBelow.lasts)) return undefined;
  const span = spanText(Number(lasting.seconds.toFixed()));
  return error(`${has} and lasts ${span} at ${inRoubles(perHour)} per hour`);
}

/** Returns an error if a missing fact prevents the check. */
export function doubtOf(facts: MoneyFacts, failBelow: Limit): CliError | undefined {
  const { balance, burn, charges, unexplainedPerHour } = facts;
  const unjudged = (words: string, item?: BillingItem) =>
    new CliError('notUnderstood', `${words}, so --fail-below ${failBelow.text} can't be checked.`, {
      ...(item === undefined ? {} : { resource: item.id ?? item.name, hint: hintOf(item) }),
    });
  if (balance === undefined) return unjudged('The service returned no readable balance');
  if ('amount' in failBelow) return undefined;
  const untold = burn.uncounted.find(({ item }) => priceIn(item.price) === undefined);
  if (untold !== undefined) {
    const { item } = untold;
    return unjudged(
      item.id === null
        ? `The outcome of ${item.name} is unknown`
        : `The price of ${item.name} is unknown`,
      item,
    );
  }
  const most = burn.atMost?.plus(unexplainedPerHour);
  const least = most === undefined ? undefined : runwayOf(balance, most, 0);
  const [first] = burn.uncounted;
  if (most !== undefined && least?.seconds.times(1000).lt(failBelow.lasts) && first !== undefined) {
    const span = spanText(Number(least.seconds.toFixed()));
    const more = burn.uncounted.length === 1 ? '' : ` and ${burn.uncounted.length - 1} more`;
    return unjudged(
      `The API does not document the cost of ${first.item.name} (${first.item.status})${more}. At its full price the balance may last only ${span} (${inRoubles(most)} per hour)`,
      first.item,
    );
  }
  const why = whyUnchecked(charges);
  return why === undefined ? undefined : unjudged(why);
}

function hintOf({ id }: BillingItem): string {
  return id === null ? 'gpucloud instances recover' : 'see what may bill: gpucloud status';
}
