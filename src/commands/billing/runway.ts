import { ruled } from '../../cli/parse.ts';
import { action } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { assertWhole, readAccount } from '../../money/account.ts';
import { findingsOf, type Look, lookAt } from '../../money/findings.ts';
import { gpucloudLine } from '../../output/shell-line.ts';
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
      `Not in the rate because the cost is unknown: ${names.join(', ')}${more}. See: ${typed('status')}`,
    );
  }
}
