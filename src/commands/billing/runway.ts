import { ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Runway } from '../../json-results/money.ts';
import { type AccountReading, assertWhole, readAccount } from '../../money/account.ts';
import {
  burnJson,
  chargesJson,
  type MoneyFacts,
  runwayJson,
  runwayOf,
  whyUnchecked,
} from '../../money/facts.ts';
import { findingsOf, type Look, lookAt } from '../../money/findings.ts';
import type { BillingItem } from '../../money/rows.ts';
import { type Block, field, type View } from '../../output/output.ts';
import { gpucloud, gpucloudLine } from '../../output/shell-line.ts';
import { minuteText, spanText } from '../../output/time.ts';
import {
  inRoubles,
  isAboveZero,
  kopecksText,
  type Money,
  positiveMoney,
  priceIn,
  roublesText,
} from '../../rules/money.ts';
import { broken, kept, type Rule } from '../../rules/rule.ts';
import { positiveDuration } from '../../rules/times.ts';

/** A limit: `--fail-below 24h` or `--fail-below 500`. */
export type Limit =
  /** `lasts` is in milliseconds. */
  { readonly text: string } & ({ readonly lasts: number } | { readonly amount: Money });

export const limit: Rule<Limit> = (text) => {
  const lasts = positiveDuration(text);
  if (lasts.ok) return kept({ text, lasts: lasts.value });
  const amount = positiveMoney(text);
  return amount.ok
    ? kept({ text, amount: amount.value })
    : broken('must be a duration (24h, 3d) or an amount of roubles (500), above zero');
};

/**
 * Fails with exit code 5 if the balance is certainly below the limit: unknown costs only lower it
 * further.
 */
function shortage(facts: MoneyFacts, failBelow: Limit): CliError | undefined {
  const { balance, runway: lasting, perHour } = facts;
  if (balance === undefined) return undefined;
  const has = `The balance is ${inRoubles(balance)}`;
  const error = (words: string) =>
    new CliError('wrongState', `${words}, under --fail-below ${failBelow.text}.`, {
      hint: `top up the balance, or terminate what you don't need: ${gpucloud('status')}`,
    });
  if ('amount' in failBelow) {
    return balance.lt(failBelow.amount) ? error(has) : undefined;
  }
  if (balance.lt(0)) return error(`${has} (negative)`);
  if (lasting === undefined || lasting.seconds.times(1000).gte(failBelow.lasts)) return undefined;
  const span = spanText(Number(lasting.seconds.toFixed()));
  return error(`${has} and lasts ${span} at ${inRoubles(perHour)} per hour`);
}

/** Returns an error if a fact for the check is missing. */
export function doubtOf(facts: MoneyFacts, failBelow: Limit): CliError | undefined {
  const { balance, burn, charges, read, unexplainedPerHour } = facts;
  const unjudged = (words: string, item?: BillingItem) =>
    new CliError('notUnderstood', `${words}, so --fail-below ${failBelow.text} can't be checked.`, {
      ...(item === undefined ? {} : { resource: item.id ?? item.name, hint: hintOf(item) }),
    });
  if (balance === undefined) return unjudged('The service returned no readable balance');
  if ('amount' in failBelow) return undefined;
  if (!read.instances) return unjudged("This computer's list of instances is incomplete");
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
      `The API does not document the cost of ${first.item.name} (${first.item.status})${more}. At full price, the balance may last only ${span} (${inRoubles(most)} per hour)`,
      first.item,
    );
  }
  const why = whyUnchecked(charges);
  return why === undefined ? undefined : unjudged(why);
}

/** Throws CliError('notUnderstood') if the report lacks an amount that the service should show. */
function assertReadable({ unreadable }: AccountReading, { balance, burn }: MoneyFacts): void {
  const unpriced = burn.uncounted.find(({ why }) => why === 'price')?.item;
  const missing =
    balance === undefined
      ? 'The service returned no readable balance'
      : unpriced !== undefined
        ? `The price of ${unpriced.name} is unknown`
        : unreadable && `The amount or time of transaction ${unreadable.id} is unreadable`;
  if (missing === undefined) return;
  throw new CliError('notUnderstood', `${missing}, so the result is incomplete.`, {
    ...(unpriced === undefined ? {} : { hint: hintOf(unpriced) }),
  });
}

function hintOf({ id }: BillingItem): string {
  return id === null
    ? gpucloud('instances', 'recover')
    : `see what may bill: ${gpucloud('status')}`;
}

function reportOf(
  reading: AccountReading,
  facts: MoneyFacts,
  failBelow: Limit | undefined,
  below: boolean | null,
): Runway {
  return {
    as_of: new Date(reading.now).toISOString(),
    balance: reading.user?.balance ?? null,
    per_hour: facts.read.instances && facts.read.drives ? kopecksText(facts.perHour) : null,
    unexplained_per_hour:
      facts.charges === undefined ? null : kopecksText(facts.unexplainedPerHour),
    ...runwayJson(facts),
    burn: burnJson(facts),
    charges: chargesJson(facts.charges),
    fail_below: failBelow?.text ?? null,
    below,
    unread: reading.faults.map(({ part }) => part),
  };
}

const runwayView: View<Runway> = {
  columns: [
    field('balance', 'BALANCE', { kind: 'money' }),
    field('per_hour', 'PER HOUR', { kind: 'money' }),
    field('hours_left', 'HOURS LEFT'),
    field('runs_out_at', 'RUNS OUT', { kind: 'time' }),
    field('unexplained_per_hour', 'UNEXPLAINED', { kind: 'money', hidden: true }),
    field('below', 'BELOW', { kind: 'yes', hidden: true }),
    field('as_of', 'AS OF', { kind: 'time', hidden: true }),
  ],
  id: () => null,
  empty: 'No balance.',
};

function lastsText(report: Runway): string {
  const { hours_left: hours, runs_out_at: end, as_of: now, balance, unread, burn } = report;
  if (end !== null) return spanText((Date.parse(end) - Date.parse(now)) / 1000);
  if (hours !== null) return spanText(Number(hours) * 3600);
  const isUnsure = unread.length > 0 || burn.not_counted.length > 0 || burn.per_hour === null;
  if (balance === null || isUnsure) return 'unknown';
  return 'no known costs';
}

function runwayBlocks(report: Runway): Block[] {
  const { balance, per_hour, unexplained_per_hour: unexplained, runs_out_at: end } = report;
  return [
    {
      kind: 'facts',
      facts: [
        { label: 'Balance', text: balance === null ? 'unknown' : roublesText(balance) },
        { label: 'Per hour', text: per_hour === null ? 'unknown' : roublesText(per_hour) },
        {
          label: '',
          text:
            unexplained !== null && isAboveZero(unexplained)
              ? `includes ${roublesText(unexplained)} of unexplained charges`
              : '',
        },
        { label: 'Lasts', text: lastsText(report) },
        { label: 'Until', text: end === null ? '' : minuteText(Date.parse(end)) },
        { label: 'Limit', text: limitText(report) },
      ],
    },
  ];
}

/** Shows the limit with its unit, since a `24` meant as hours is read as roubles. */
function limitText({ fail_below: limit, below }: Runway): string {
  if (limit === null) return '';
  return `${roublesText(limit)}${below === true ? ': not met' : ''}`;
}

export const runway = verb({
  summary: 'Show how long the balance lasts',
  tool: { allow: 'read' },
  view: runwayView,
  completes: { '--fail-below': 'nothing' },
  notes:
    'The rate adds up the prices of known instances and all drives. If the last 24 hours ' +
    'cost more, the rate includes the difference, shown as unexplained charges.\n\n' +
    'Exits with 10 if the balance, a price or a recent charge is unreadable. --fail-below exits ' +
    'with 5 if the balance lasts less than a duration, or is less than an amount in roubles. ' +
    "If the limit can't be checked, the command fails.",
  examples: [
    'gpucloud billing runway',
    'gpucloud billing runway --fail-below 24h',
    'gpucloud billing runway --fail-below 500 --json',
  ],
  ends: ['wrongState'],
  takes: (command) =>
    command.option(
      '--fail-below <limit>',
      'minimum duration (24h) or amount in roubles (500); exit with 5 below it',
      ruled('--fail-below', limit),
    ),
  run: async (context, { failBelow }) => {
    const { out } = context;
    const reading = await readAccount(context);
    const look = lookAt(reading);
    const { facts } = look;
    const short = failBelow && shortage(facts, failBelow);
    const doubt = failBelow && doubtOf(facts, failBelow);
    const isJudged = short !== undefined || (doubt === undefined && reading.faults.length === 0);
    const below = failBelow === undefined || !isJudged ? null : short !== undefined;
    const report = reportOf(reading, facts, failBelow, below);
    if (out.people) await out.screen(runwayBlocks(report), reading.now);
    else await out.item(report, runwayView);
    warn(look, context);
    if (short !== undefined) throw short;
    assertWhole(reading.faults);
    if (doubt !== undefined) throw doubt;
    // Only the balance decides about a limit in roubles.
    if (failBelow === undefined || 'lasts' in failBelow) assertReadable(reading, facts);
  },
});

function warn(look: Look, { err, flags }: Context): void {
  const typed = (...words: string[]) => gpucloudLine(words, flags.profile);
  for (const { message, next } of findingsOf(look, 'unexplained_charges', 'charges_unchecked')) {
    err.warn('unexplained_charges', `${message}: ${typed(...(next ?? []))}`);
  }
  const { uncounted } = look.facts.burn;
  if (uncounted.length > 0) {
    const names = uncounted.slice(0, 3).map(({ item }) => `${item.name} (${item.status})`);
    const more = uncounted.length > 3 ? ` and ${uncounted.length - 3} more` : '';
    err.warn(
      'incomplete',
      `Excluded from the rate because the cost is unknown: ${names.join(', ')}${more}. See: ${typed('status')}`,
    );
  }
}
