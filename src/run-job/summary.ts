import { relative } from 'node:path';
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
  if (code !== null) err.note(`${clamp(shellLine(command, 'linux'), 50)}: exit code ${code}`);
  if (fetched.length > 0) err.note(`Fetched ${fetched.map(shortPath).join(', ')}`);
  const cost = money(cost_at_most ?? '');
  if (instance !== null && terminated === true) {
    const atMost = cost.ok ? ` It cost at most ${inRoubles(cost.value)}.` : '';
    err.note(`Terminated ${instance.name} after ${spanText(seconds)}.${atMost}`);
  }
}

/** A path below the current folder is short from there. */
function shortPath(path: string): string {
  const short = relative('.', path);
  return short === '' || short.startsWith('..') ? path : short;
}
