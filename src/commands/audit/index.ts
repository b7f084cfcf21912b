import { verb } from '../../command-line/verb.ts';
import { CliError } from '../../errors.ts';
import type { AuditCheck } from '../../json-results/money.ts';
import { assertWhole } from '../../money/account.ts';
import { type Check, checksOf, readAudit } from '../../money/audit.ts';
import { type Block, field, type View } from '../../output/output.ts';
import { gpucloudLine } from '../../output/shell-line.ts';
import { kopecksText } from '../../rules/money.ts';

const auditView: View<AuditCheck> = {
  columns: [
    field('check', 'CHECK'),
    field('result', 'RESULT'),
    field('per_hour', 'PER HOUR', { kind: 'money' }),
    field('message', 'MESSAGE'),
    field('command', 'COMMAND'),
  ],
  id: ({ check, result }) => (result === 'finding' ? check : null),
  empty: 'No checks ran.',
};

function rowOf(
  { check, result, message, evidence = [], perHour, next }: Check,
  profile: string | undefined,
): AuditCheck {
  return {
    check,
    result,
    message,
    evidence: [...evidence],
    per_hour: perHour === undefined ? null : kopecksText(perHour),
    command: next === undefined ? null : gpucloudLine(next, profile),
  };
}

/** Shows findings first, each with its evidence and the next command. */
function auditBlocks(checks: readonly AuditCheck[]): Block[] {
  const isOk = ({ result }: AuditCheck) => result === 'ok';
  const doubts = checks.filter((check) => !isOk(check));
  const order = (check: AuditCheck) => Number(check.result !== 'finding');
  return [
    ...doubts.sort((a, b) => order(a) - order(b)).map(blockOf),
    {
      kind: 'items',
      heading: 'OK',
      items: checks.filter(isOk).map(({ message }) => ({ text: message })),
    },
  ];
}

function blockOf({ check, result, message, evidence, per_hour: rate, command }: AuditCheck): Block {
  const isFinding = result === 'finding';
  const cost = rate === null ? '' : `, ${rate} ₽ per hour`;
  const texts = [message, ...evidence];
  return {
    kind: 'items',
    heading: `${isFinding ? 'FINDING' : 'UNKNOWN'} ${check}${cost}`,
    items: texts.map((text, at) => ({
      text,
      ...(at === 0 ? { colour: isFinding ? 'red' : 'yellow' } : {}),
      ...(at === texts.length - 1 && command !== null ? { command } : {}),
    })),
  };
}

export const audit = verb({
  summary: 'Find charges and instances unknown to this computer',
  tool: { allow: 'read' },
  view: auditView,
  notes:
    "The API can't list instances, so audit looks for costs that gpucloud does not track: " +
    'requests without a response, instances attached to drives, terminated instances that run again, ' +
    'other API keys, and unexplained charges.\n\n' +
    '--exact also compares held funds with the known prices of instances. The service shows ' +
    'held funds only in the response to an account update, so --exact sends your current name ' +
    'again.\n\n' +
    'Each result is ok, finding or unknown. Exits with 5 on any finding, otherwise ' +
    'with 10 if a check failed.',
  examples: [
    'gpucloud audit',
    'gpucloud audit --exact',
    'gpucloud audit --json | jq \'.[] | select(.result != "ok")\'',
  ],
  ends: ['wrongState', 'notUnderstood'],
  takes: (command) =>
    command.option('--exact', 'compare held funds with the known prices of instances'),
  async run(context, { exact = false }) {
    const { out, flags } = context;
    const progress = context.err.progress('Looking for unknown costs');
    const reading = await readAudit({ exact }, context).finally(() => progress.done());
    const { user, drives, faults, now } = reading.look.reading;
    // Fails if nothing could be read: a service that does not respond is not a finding. Charges need
    // the drives.
    if (user === undefined && drives === undefined) assertWhole(faults);
    const checks = checksOf(reading);
    const rows = checks.map((check) => rowOf(check, flags.profile));
    if (out.people) await out.screen(auditBlocks(rows), now);
    else await out.list(rows, auditView);
    if (!exact && out.format === 'table') {
      context.err.note(
        `To also compare held funds: ${gpucloudLine(['audit', '--exact'], flags.profile)}`,
      );
    }
    assertOk(checks);
  },
});

function assertOk(checks: readonly Check[]): void {
  const [findings, unknown] = ['finding', 'unknown'].map((result) =>
    checks.filter((check) => check.result === result).map(({ check }) => check),
  );
  if (findings !== undefined && findings.length > 0) {
    throw new CliError('wrongState', `The audit has findings: ${findings.join(', ')}.`, {
      code: 'finding',
      mayBeBilling: findings.some((check) => check !== 'other_api_keys'),
    });
  }
  if (unknown !== undefined && unknown.length > 0) {
    throw new CliError('notUnderstood', `Could not check: ${unknown.join(', ')}.`);
  }
}
