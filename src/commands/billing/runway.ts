import { ruled } from '../../cli/parse.ts';
import { action } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { type AccountReading, readAccount } from '../../money/account.ts';
import { type MoneyFacts, moneyFacts, unexplainedText, whyUnchecked } from '../../money/facts.ts';
import { assertWhole } from '../../money/faults.ts';
import { doubtOf, limit, shortage } from './fail-below.ts';
import { reportOf, runwayBlocks, runwayView } from './runway-view.ts';

export const runway = action({
  view: runwayView,
  completes: { '--fail-below': 'nothing' },
  notes:
    'The rate is the sum of the prices of known instances and all drives. If the last 24 ' +
    'hours cost more than these explain, the difference is added and printed.\n\n' +
    '--fail-below exits with 5 if the balance lasts less than a duration, or is less than ' +
    "an amount in roubles. If something can't be read, it fails too.",
  examples: [
    'gpucloud billing runway',
    'gpucloud billing runway --fail-below 24h',
    'gpucloud billing runway --fail-below 500 --json',
  ],
  ends: ['wrongState'],
  takes: (command) =>
    command.option(
      '--fail-below <limit>',
      'exit with 5 below a duration (24h) or an amount in roubles (500)',
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

function warn(
  { burn, charges, unexplainedPerHour }: MoneyFacts,
  { faults }: AccountReading,
  { err }: Context,
): void {
  const why = whyUnchecked(charges);
  if (why !== undefined && (charges !== undefined || faults.length === 0)) {
    err.warn(
      'unexplained_charges',
      `${why}, so something unknown may be billing: gpucloud billing spend`,
    );
  }
  if (charges !== undefined && unexplainedPerHour.gt(0)) {
    err.warn(
      'unexplained_charges',
      `${unexplainedText(charges)}. The rate includes the difference: gpucloud status`,
    );
  }
  if (burn.uncounted.length > 0) {
    const names = burn.uncounted.slice(0, 3).map(({ item }) => `${item.name} (${item.status})`);
    const more = burn.uncounted.length > 3 ? ` and ${burn.uncounted.length - 3} more` : '';
    err.warn(
      'incomplete',
      `Not in the rate because the cost is unknown: ${names.join(', ')}${more}. See: gpucloud status`,
    );
  }
}
