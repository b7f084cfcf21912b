import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { DoctorCheck, DoctorReport } from '../../json-results/local.ts';
import { field, type Section, type View } from '../../output/output.ts';
import { withProfile } from '../../output/shell-line.ts';
import { LONGEST_TIMER } from '../../system/clock.ts';
import { type Checks, type Finding, fail, failWith } from './check.ts';
import { computerChecks } from './computer.ts';
import { serviceChecks } from './service.ts';
import { fileChecks, settingsChecks } from './settings.ts';

const CHAPTERS: Readonly<Record<string, readonly string[]>> = {
  Computer: ['program', 'node', 'ssh', 'completion'],
  Settings: ['profile', 'base_url', 'api_key'],
  Files: ['config_folder', 'config_file', 'state_folder', 'state_writable'],
  Service: ['proxy', 'certificates', 'service', 'account', 'ssh_key', 'clock', 'deadlines', 'mcp'],
};

const checkView: View<DoctorCheck> = {
  columns: [
    field('id', 'CHECK'),
    field('status', 'STATUS'),
    field('message', 'MESSAGE'),
    field('hint', 'HINT'),
  ],
  id: (check) => check.id,
  empty: 'No checks ran.',
};

const reportView: View<DoctorReport> = {
  columns: [],
  id: () => null,
  empty: 'No checks ran.',
  sections: Object.entries(CHAPTERS).map(
    ([heading, ids]): Section<DoctorReport> => ({
      heading,
      lines: ({ checks }) =>
        checks
          .filter(({ id }) => ids.includes(id))
          .map((check) => ({ label: check.id, value: checkText(check), kind: 'check' })),
    }),
  ),
};

function checkText({ status, message, hint }: DoctorCheck): string {
  const mark = status === 'pass' ? status : status.toUpperCase();
  return `${mark}  ${message}${hint === null ? '' : `\n      ${hint}`}`;
}

export const doctor = verb({
  summary: 'Check this computer, your settings and the connection',
  tool: { allow: 'read' },
  view: checkView,
  notes:
    'Each result is pass, warn or fail. Exits with 1 if a check fails. Makes no changes and ' +
    'is free. --timeout limits the total time of all checks.\n\n' +
    'JSON: {"checks": [{"id", "status", "message", "hint"}], "ok"}. hint may be null.',
  examples: [
    'gpucloud doctor',
    'gpucloud --profile work doctor --timeout 10s',
    'gpucloud doctor --json | jq \'.checks[] | select(.status != "pass")\'',
  ],
  takes: (command) => command,
  async run(context) {
    // Validates --query first, since a mistake in it is not a finding.
    await context.out.prepare();
    const progress = context.err.progress('Checking the computer, the settings and the service');
    const timeout = Math.min(context.flags.timeout ?? TIMEOUT_MS, LONGEST_TIMER);
    // Uses a real timer instead of the clock, since it must stop checks that hang.
    const late = new Promise<Finding>((resolve) => {
      const finding = fail('not finished within --timeout');
      setTimeout(() => resolve(finding), timeout).unref();
    });
    let checks: DoctorCheck[];
    try {
      checks = [
        ...(await made(
          {
            ...computerChecks(context),
            ...settingsChecks(context),
            ...fileChecks(context),
          },
          late,
        )),
        // Runs the service checks last: the sandbox creates the folder that the file checks look
        // for.
        ...(await made(serviceChecks(context), late)),
      ];
    } finally {
      progress.done();
    }
    // Discards the results after an interrupt: it also stopped the checks' programs.
    context.signal.throwIfAborted();
    await show(checks, context);
    const failed = checks.filter(({ status }) => status === 'fail').map(({ id }) => id);
    if (failed.length > 0) {
      throw new CliError(
        'refused',
        `${failed.length} of ${checks.length} checks failed: ${failed.join(', ')}.`,
      );
    }
    context.err.note(summaryOf(checks));
  },
});

function summaryOf(checks: readonly DoctorCheck[]): string {
  const warned = checks.filter(({ status }) => status === 'warn').map(({ id }) => id);
  return warned.length === 0
    ? `All ${checks.length} checks passed.`
    : `No check failed. Warnings: ${warned.join(', ')}.`;
}

/** Every call's default timeout. */
const TIMEOUT_MS = 60_000;
/** Runs checks in parallel. Fails checks that exceed the deadline. */
function made(checks: Checks, late: Promise<Finding>): Promise<DoctorCheck[]> {
  return Promise.all(
    Object.entries(checks).map(async ([id, check]) => {
      const finding = Promise.resolve().then(check).catch(failWith);
      return { id, ...(await Promise.race([finding, late])) };
    }),
  );
}

/** Prints one document in structured formats, and rows in row formats. */
async function show(found: readonly DoctorCheck[], { out, flags }: Context): Promise<void> {
  const checks = found.map((check) => ({
    ...check,
    message: withProfile(check.message, flags.profile),
    hint: check.hint && withProfile(check.hint, flags.profile),
  }));
  const isChosen = flags.columns !== undefined || flags.sort !== undefined;
  if (isChosen || ['jsonl', 'csv', 'tsv', 'id'].includes(out.format)) {
    await out.list(checks, checkView);
  } else {
    const ok = checks.every(({ status }) => status !== 'fail');
    await out.item({ checks, ok }, reportView);
  }
}
