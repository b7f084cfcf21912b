import { action } from '../../cli/verb.ts';
import { CliError } from '../../errors.ts';
import { assertWhole } from '../../money/account.ts';
import { type Check, checksOf, readAudit } from '../../money/audit.ts';
import { gpucloudLine } from '../../output/shell-line.ts';
import { auditBlocks, auditView } from './view.ts';

/** `gpucloud audit`, a verb of the root. */
export const audit = action({
  view: auditView,
  notes:
    'Looks for costs unknown to this computer, since the API has no list of instances: ' +
    'requests without a response, instances attached to drives, ended instances that run again, ' +
    'other API keys, and unexplained charges.\n\n' +
    '--exact also compares the funds that the service holds for instances with the prices ' +
    'known here. Only an update of the profile shows these funds, so it sends the same name ' +
    'again.\n\n' +
    'Each check is ok, finding or unknown. Exits with 5 if anything was found, otherwise ' +
    'with 10 if a check could not be made.',
  examples: [
    'gpucloud audit',
    'gpucloud audit --exact',
    'gpucloud audit --json | jq \'.[] | select(.result != "ok")\'',
  ],
  ends: ['wrongState', 'notUnderstood'],
  takes: (command) =>
    command.option('--exact', 'compare the funds that the service holds for instances'),
  async run(context, { exact = false }) {
    const { out, flags } = context;
    const progress = context.err.progress('Looking for unknown costs');
    const reading = await readAudit({ exact }, context).finally(() => progress.done());
    const { user, drives, charges, faults, now } = reading.look.reading;
    // A service that does not respond is not a finding.
    if (user === undefined && drives === undefined && charges === undefined) assertWhole(faults);
    const typed = (words: readonly string[]) => gpucloudLine(words, flags.profile);
    const checks = checksOf(reading);
    const rows = checks.map(({ next, ...check }) => ({ ...check, command: next && typed(next) }));
    if (out.people) await out.screen(auditBlocks(rows), now);
    else await out.list(rows, auditView);
    if (!exact && out.format === 'table') {
      context.err.note(`To compare the held funds too: ${typed(['audit', '--exact'])}`);
    }
    assertOk(checks);
  },
});

function assertOk(checks: readonly Check[]): void {
  const [findings, unknown] = ['finding', 'unknown'].map((result) =>
    checks.filter((check) => check.result === result).map(({ check }) => check),
  );
  if (findings !== undefined && findings.length > 0) {
    throw new CliError('wrongState', `The audit found something: ${findings.join(', ')}.`, {
      code: 'finding',
      mayBeBilling: findings.some((check) => check !== 'other_api_keys'),
    });
  }
  if (unknown !== undefined && unknown.length > 0) {
    throw new CliError('notUnderstood', `Could not check: ${unknown.join(', ')}.`);
  }
}
