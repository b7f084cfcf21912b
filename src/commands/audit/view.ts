import type { Check } from '../../money/audit.ts';
import { type Block, field, type View } from '../../output/output.ts';
import type { AuditCheck } from '../../results/money.ts';
import { kopecksText } from '../../rules/money.ts';

/** A check with its next command, ready to paste. */
type Row = Omit<Check, 'next'> & { readonly command: string | undefined };

export const auditView: View<Row> = {
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
    evidence: [...(one.evidence ?? [])],
    per_hour: perHourText(one) ?? null,
    command: one.command ?? null,
  }),
};

function perHourText({ perHour }: Row): string | undefined {
  return perHour && kopecksText(perHour);
}

/** Findings first, each with its evidence and the next command. */
export function auditBlocks(checks: readonly Row[]): Block[] {
  const isOk = ({ result }: Row) => result === 'ok';
  const doubts = checks.filter((check) => !isOk(check));
  const order = (check: Row) => Number(check.result !== 'finding');
  return [
    ...doubts.sort((a, b) => order(a) - order(b)).map(blockOf),
    {
      kind: 'items',
      heading: 'OK',
      items: checks.filter(isOk).map(({ message }) => ({ text: message })),
    },
  ];
}

function blockOf(check: Row): Block {
  const { result, message, evidence = [], command } = check;
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
      ...(at === texts.length - 1 && command !== undefined ? { command } : {}),
    })),
  };
}
