import type { Check } from '../../money/audit/index.ts';
import { type Block, field, type View } from '../../output/output.ts';
import type { AuditCheck } from '../../results/money.ts';
import { kopecksText } from '../../rules/money.ts';

export const auditView: View<Check> = {
  columns: [
    field('check', 'CHECK'),
    field('result', 'RESULT'),
    { id: 'per_hour', header: 'PER HOUR', kind: 'money', value: perHourText },
    field('message', 'MESSAGE'),
    field('command', 'COMMAND'),
  ],
  id: ({ check, result }) => (result === 'finding' ? check : null),
  empty: 'Nothing was checked.',
  json: (one): AuditCheck => ({
    check: one.check,
    result: one.result,
    message: one.message,
    evidence: [...one.evidence],
    per_hour: perHourText(one) ?? null,
    command: one.command ?? null,
  }),
};

function perHourText({ perHour }: Check): string | undefined {
  return perHour && kopecksText(perHour);
}

/** Findings first, each with its evidence and the next command. */
export function auditBlocks(checks: readonly Check[], typed: (command: string) => string): Block[] {
  const isOk = ({ result }: Check) => result === 'ok';
  const doubts = checks.filter((check) => !isOk(check));
  const order = (check: Check) => Number(check.result !== 'finding');
  return [
    ...doubts.sort((a, b) => order(a) - order(b)).map((check) => blockOf(check, typed)),
    {
      kind: 'items',
      heading: 'OK',
      items: checks.filter(isOk).map(({ message }) => ({ text: message })),
    },
  ];
}

function blockOf(check: Check, typed: (command: string) => string): Block {
  const { result, message, evidence, command } = check;
  const isFinding = result === 'finding';
  const rate = perHourText(check);
  const cost = rate === undefined ? '' : `, ${rate} ₽ per hour`;
  const texts = [message, ...evidence];
  return {
    kind: 'items',
    heading: `${isFinding ? 'FINDING' : 'UNKNOWN'} ${check.check}${cost}`,
    items: texts.map((text, at) => ({
      text,
      ...(at === 0 ? { colour: isFinding ? 'red' : 'yellow' } : {}),
      ...(at === texts.length - 1 && command !== undefined ? { command: typed(command) } : {}),
    })),
  };
}
