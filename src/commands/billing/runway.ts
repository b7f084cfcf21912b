import { ruled } from '../../cli/parse.ts';
import { action } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { type AccountReading, readAccount } from '../../money/account.ts';
import type { BillingItem } from '../../money/burn.ts';
import {
  burnJson,
  chargesJson,
  chargesSpan,
  type MoneyFacts,
  moneyFacts,
  runwayJson,
} from '../../money/facts.ts';
import { assertWhole } from '../../money/faults.ts';
import { runwayOf } from '../../money/runway.ts';
import { spanText } from '../../output/time.ts';
import { kopecksText, type Money, money, positiveMoney } from '../../rules/money.ts';
import { broken, kept, type Rule } from '../../rules/rule.ts';
import { positiveDuration } from '../../rules/times.ts';
import { type RunwayReport, runwayBlocks, runwayView } from './runway-view.ts';

type Limit =
  /** Milliseconds. */
  { readonly text: string } & ({ readonly lasts: number } | { readonly amount: Money });

const limit: Rule<Limit> = (text) => {
  const lasts = positiveDuration(text);
  if (lasts.ok) return kept({ text, lasts: lasts.value });
  const amount = positiveMoney(text);
  return amount.ok
    ? kept({ text, amount: amount.value })
    : broken('it is a duration (24h, 3d) or an amount of roubles (500), above zero');
};

export const runway = action({
  view: runwayView,
  completes: { '--fail-below': 'nothing' },
  notes:
    'The rate is the sum of the prices that the service tells for the machines known to this computer\n' +
    'and for all drives. Where the charges of the last 24 hours exceed all that this explains, the\n' +
    'difference is added to the rate and told. --fail-below ends with exit code 5 when the balance\n' +
    'lasts for less than a duration, or is less than an amount of roubles; what can not be read or\n' +
    'reckoned never passes for enough.',
  examples: [
    'gpucloud billing runway',
    'gpucloud billing runway --fail-below 24h',
    'gpucloud billing runway --fail-below 500 --json',
  ],
  ends: ['wrongState'],
  takes: (command) =>
    command.option(
      '--fail-below <limit>',
      'exit 5 below a duration (24h) or an amount of roubles (500)',
      ruled('--fail-below', limit),
    ),
  run: async (context, { failBelow }) => {
    const { out } = context;
    const reading = await readAccount(context);
    const facts = moneyFacts(reading);
    const short = failBelow && shortage(facts, failBelow);
    const doubt = failBelow && doubtOf(facts, failBelow);
    const isJudged = short !== undefined || (doubt === undefined && reading.faults.length === 0);
    const below = failBelow === undefined || !isJudged ? null : short !== undefined;
    const report = reportOf(reading, facts, failBelow, below);
    if (out.people) await out.screen(runwayBlocks(report), reading.now);
    else await out.item(report, runwayView);
    warn(facts, reading, context);
    if (short !== undefined) throw short;
    assertWhole(reading.faults);
    if (doubt !== undefined) throw doubt;
  },
});

function reportOf(
  reading: AccountReading,
  facts: MoneyFacts,
  failBelow: Limit | undefined,
  below: boolean | null,
): RunwayReport {
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

function warn(
  { burn, charges, unexplainedPerHour }: MoneyFacts,
  { faults }: AccountReading,
  { err }: Context,
): void {
  if (charges === undefined && faults.length === 0) {
    err.warn(`${UNCHECKED}, so something unknown may be billing unseen: gpucloud billing spend`);
  }
  if (charges !== undefined && unexplainedPerHour.gt(0)) {
    err.warn(
      `Something unknown may be billing: ${kopecksText(charges.charged)} RUB was charged in the last ${chargesSpan(charges)}, and all that is known here explains ${kopecksText(charges.atMost)} RUB at most. The rate holds the difference: gpucloud status`,
    );
  }
  if (burn.uncounted.length > 0) {
    const names = burn.uncounted.slice(0, 3).map(({ item }) => `${item.name} (${item.status})`);
    const more = burn.uncounted.length > 3 ? ` and ${burn.uncounted.length - 3} more` : '';
    err.warn(
      `Not in the rate, since what it costs is not told: ${names.join(', ')}${more}. See: gpucloud status`,
    );
  }
}

/** Exit code 5 if the limit is certainly not met: what is not known can only make it worse. */
function shortage(facts: MoneyFacts, failBelow: Limit): CliError | undefined {
  const { balance, runway: lasting, perHour } = facts;
  if (balance === undefined) return undefined;
  const has = `The balance is ${kopecksText(balance)} RUB`;
  const error = (words: string) =>
    new CliError('wrongState', `${words}, under --fail-below ${failBelow.text}.`, {
      hint: 'top up the balance, or end what is not needed: gpucloud status',
    });
  if ('amount' in failBelow) {
    return balance.lt(failBelow.amount) ? error(has) : undefined;
  }
  if (balance.lt(0)) return error(`${has}, below zero`);
  if (lasting === undefined || lasting.seconds.times(1000).gte(failBelow.lasts)) return undefined;
  const span = spanText(Number(lasting.seconds.toFixed()));
  return error(`${has} and lasts for ${span} at ${kopecksText(perHour)} RUB an hour`);
}

const UNCHECKED =
  'The charges could not be compared with what is known here (a price is not told, or the history is too long or in no order)';

/** A limit that was not passed by what is known: is enough known to say so? */
function doubtOf(facts: MoneyFacts, failBelow: Limit): CliError | undefined {
  const { balance, burn, charges, unexplainedPerHour } = facts;
  const unjudged = (words: string, item?: BillingItem) =>
    new CliError('notUnderstood', `${words}, so --fail-below ${failBelow.text} can't be judged.`, {
      ...(item === undefined ? {} : { resource: item.id ?? item.name, hint: hintOf(item) }),
    });
  if (balance === undefined) return unjudged('The service told no balance that could be read');
  if ('amount' in failBelow) return undefined;
  const untold = burn.uncounted.find(({ item }) => !money(item.price ?? '').ok);
  if (untold !== undefined) {
    const { item } = untold;
    return unjudged(
      item.id === null
        ? `Whether ${item.name} was rented is not known`
        : `The price of ${item.name} is not told`,
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
      `What ${first.item.name} (${first.item.status})${more} costs is not published; at its price the balance may last for no more than ${span}, at ${kopecksText(most)} RUB an hour`,
      first.item,
    );
  }
  return charges === undefined ? unjudged(UNCHECKED) : undefined;
}

function hintOf({ id }: BillingItem): string {
  return id === null ? 'gpucloud instances recover' : 'see what may bill: gpucloud status';
}
