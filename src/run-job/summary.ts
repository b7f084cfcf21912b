import { basename } from 'node:path';
import type { Context } from '../context.ts';
import { shellLine } from '../output/shell-line.ts';
import { spanText } from '../output/time.ts';
import { clamp } from '../output/width.ts';
import { inRoubles, money } from '../rules/money.ts';
import { printJson } from './output.ts';
import type { JobReport } from './report.ts';

/** Prints the outcome of a job, its highest possible cost and the paths of the results. */
export async function noteEnd(
  command: readonly string[],
  report: JobReport,
  context: Context,
): Promise<void> {
  const { err, out } = context;
  if (out.format === 'json' || out.format === 'jsonl') {
    return printJson({ run: report }, context);
  }
  const { command_exit_code: code, seconds, instance, terminated, fetched, cost_at_most } = report;
  if (instance === null || report.stage === 'renting') return;
  const typed = clamp(shellLine(command, 'linux'), 60);
  const end = code === null ? 'no exit code is known' : `exit code ${code}`;
  err.note(`${typed}: ${end}, after ${spanText(seconds)}.`);
  if (fetched.length > 0) {
    err.note(`Fetched: ${fetched.map((path) => basename(path)).join(', ')}`);
  }
  const cost = money(cost_at_most ?? '');
  if (terminated === true) {
    err.note(
      `Terminated ${instance.name}.${cost.ok ? ` It cost at most ${inRoubles(cost.value)}.` : ''}`,
    );
  }
}
