import type { Section, View } from '../../output/output.ts';
import type { Check } from './check.ts';

export interface Report {
  readonly checks: readonly Check[];
  /** Nothing failed; there may be warnings. */
  readonly ok: boolean;
}

export const checkView: View<Check> = {
  columns: [
    { id: 'id', header: 'CHECK', value: (check) => check.id },
    { id: 'status', header: 'STATUS', value: (check) => check.status },
    { id: 'message', header: 'MESSAGE', value: (check) => check.message },
    { id: 'hint', header: 'HINT', value: (check) => check.hint },
  ],
  id: (check) => check.id,
  empty: 'Nothing was checked.',
};

const CHAPTERS: Readonly<Record<string, readonly string[]>> = {
  Computer: ['node', 'terminal', 'locale', 'ssh'],
  Settings: ['profile', 'base_url', 'api_key', 'keys', 'output'],
  Files: ['config_folder', 'config_file', 'state_folder', 'state_writable', 'journal', 'catalog'],
  Service: ['proxy', 'certificates', 'service', 'account', 'clock'],
};

const sections: readonly Section<Report>[] = Object.entries(CHAPTERS).map(([heading, ids]) => ({
  heading,
  lines: ({ checks }) =>
    checks
      .filter(({ id }) => ids.includes(id))
      .map((check) => ({ label: check.id, value: textOf(check) })),
}));

function textOf({ status, message, hint }: Check): string {
  const mark = status === 'pass' ? status : status.toUpperCase();
  return `${mark}  ${message}${hint === null ? '' : `\n      ${hint}`}`;
}

export const reportView: View<Report> = {
  columns: [
    { id: 'ok', header: 'OK', kind: 'yes', value: (report) => report.ok },
    { id: 'checks', header: 'CHECKS', value: (report) => report.checks.length },
  ],
  id: () => null,
  empty: 'Nothing was checked.',
  sections,
};
