import { relative } from 'node:path';
import { endsRentals } from '../../context/session.ts';
import type { Context } from '../../context.ts';
import { billsUntil, readEnforcement } from '../../instances/deadlines/armed.ts';
import type { Target } from '../../instances/resolve.ts';
import type { HereReport, JobReport } from '../../json-results/jobs.ts';
import type { View } from '../../output/output.ts';
import { gpucloud, shellLine } from '../../output/shell-line.ts';
import { minuteText, spanText } from '../../output/time.ts';
import { clamp } from '../../output/width.ts';
import { typedName } from '../../rules/names.ts';
import { printJson } from '../output.ts';
import { namesText } from '../phases.ts';
import { copiedBack, type RentedRecord } from '../record/record.ts';
import { keptFor } from '../stages/keep.ts';
import { earlyText } from '../stops.ts';
import { type Member, receiptText } from './receipt.ts';

/** Prints a detached job's instance, since it keeps billing. */
export async function noteStarted(record: RentedRecord, context: Context): Promise<void> {
  const { id, name, on, grace } = record;
  const { out, err } = context;
  const typed = typedName(name, id);
  const journal = await context.journal();
  const { deadline } = await journal.ends(id);
  const end = deadline == null ? 'its deadline' : minuteText(Date.parse(deadline));
  if (on) {
    err.note(
      `The command runs on ${name}. See its output: ${gpucloud('jobs', 'logs', typed)}. To follow the job and copy its ${copiedBack(record)}: ${gpucloud('jobs', 'attach', typed)}. ${name} keeps billing after the command exits.`,
    );
    return out.item({ id, name }, startedView);
  }
  const account = await journal.account();
  const enforcement = await readEnforcement({ account }, context);
  const early = earlyText(grace);
  const near = early === undefined ? '' : ` It interrupts the command ${early}.`;
  const back = copiedBack(record);
  const kept = keptFor(record);
  const missing =
    back === 'output' || kept === 0
      ? ''
      : ` If a path of --fetch is missing then, ${name} is kept for ${spanText(kept / 1000)}.`;
  const lost =
    back === 'output'
      ? ` Without --fetch, its files are deleted with it. To copy some: ${gpucloud('jobs', 'attach', typed, '--fetch', 'PATH')}.`
      : '';
  const { session } = context.host;
  const ender = enforcement.job.isArmed
    ? '"instances reap"'
    : endsRentals(session) && 'the session';
  err.warn(
    'may_be_billing',
    ender
      ? `When the command exits, ${ender} fetches the ${back} and terminates ${name}. The instance bills until then, at the latest until ${end}.${near}${missing}${lost} See its output: ${gpucloud('jobs', 'logs', typed)}`
      : `Even after its command exits, ${name} ${billsUntil(deadline, enforcement, session)}.${lost} To follow the job and terminate the instance: ${gpucloud('jobs', 'attach', typed)}`,
  );
  await out.item({ id, name }, startedView);
}

const startedView: View<Target> = {
  columns: [
    { id: 'name', header: 'NAME', value: ({ name }) => name },
    { id: 'id', header: 'ID', value: ({ id }) => id },
  ],
  id: ({ id }) => id,
  empty: 'No jobs started.',
};

/** Prints the outcome of a run, the paths of the results and the receipt. */
export async function noteEnd(
  command: readonly string[],
  report: JobReport | HereReport,
  context: Context,
): Promise<void> {
  const { err, out } = context;
  if (out.format === 'json' || out.format === 'jsonl') {
    return printJson({ run: report }, context);
  }
  const { command_exit_code: code, seconds, fetched } = report;
  if (code !== null) err.note(`${clamp(shellLine(command, 'linux'), 50)}: exit code ${code}`);
  const explained = 'instances' in report ? undefined : explainExit(code, command);
  if (explained !== undefined) err.note(explained);
  if (fetched.length > 0) err.note(`Fetched ${fetched.map(shortPath).join(', ')}`);
  const members = membersOf(report);
  const ended = members.filter(({ terminated }) => terminated === true);
  if (ended.length > 0) {
    err.note(`Terminated ${namesText(ended.map(({ name }) => name))} after ${spanText(seconds)}.`);
  }
  const isLeft = !('instances' in report) && report.terminated === false;
  const receipt = receiptText(isLeft ? members : ended);
  if (receipt !== undefined) err.note(receipt);
}

/** Returns the instances of a run. */
function membersOf(report: JobReport | HereReport): Member[] {
  if ('instances' in report) return report.instances;
  const { instance } = report;
  return instance === null ? [] : [{ ...report, name: instance.name }];
}

/** Explains an exit code of a command that could not start a program. */
function explainExit(
  code: number | null,
  [word = '', ...others]: readonly string[],
): string | undefined {
  if (code !== 126 && code !== 127) return undefined;
  if (others.length === 0 && /\s/.test(word)) {
    return `COMMAND is one word, so it was run as a file. To run a command line: -- sh -c ${shellLine([word], 'linux')}`;
  }
  return code === 126
    ? 'Exit code 126: a file could not be executed. Check its mode (chmod +x) and its first line.'
    : "Exit code 127: a program was not found. The command runs without a login shell, which may set another PATH: try -- bash -lc '...'";
}

/** Shortens a path below the current folder. */
function shortPath(path: string): string {
  const short = relative('.', path);
  return short === '' || short.startsWith('..') ? path : short;
}
