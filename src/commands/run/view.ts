import { isRescueWanted, wantedDeadline, wantedText } from '../../instances/deadlines/deadline.ts';
import { type PlannedCost, plannedCostText, requestLines } from '../../instances/rent/planned.ts';
import { shownSetup } from '../../jobs/command.ts';
import type { JobPlan } from '../../jobs/job.ts';
import { filesText, largestText, leftOutText } from '../../jobs/phases.ts';
import { earlyText, graceFor } from '../../jobs/stops.ts';
import { copyOutText } from '../../jobs/targets.ts';
import type { Planned } from '../../json-results/instances.ts';
import type { View } from '../../output/output.ts';
import { shellLine } from '../../output/shell-line.ts';
import { REQUEST_SECRETS } from '../../rules/secrets.ts';

/** The output of `--dry-run`. */
export const planView: View<JobPlan & Planned & { readonly cost: PlannedCost }> = {
  columns: [
    { id: 'name', header: 'NAME', value: ({ request }) => request.instance_name },
    { id: 'names', header: 'NAMES', value: ({ names }) => names.join(' '), hidden: true },
    { id: 'command', header: 'COMMAND', value: ({ command }) => shellLine(command, 'linux') },
  ],
  id: () => null,
  empty: 'No plan.',
  sections: [
    {
      heading: 'POST /instances (not sent)',
      lines: ({ request, names }) => [
        ...requestLines(request),
        { label: 'names', value: names.length > 1 ? names.join(', ') : null },
      ],
    },
    {
      heading: 'Then',
      lines: ({ command, toStart, files, overview, fetch, ends, grace, here, cost }) => [
        { label: 'copy in', value: files && `${filesText(files)} from ${files.folder}` },
        { label: 'largest', value: overview && largestText(overview) },
        { label: 'left out', value: files && overview && leftOutText(files, overview) },
        { label: 'set up', value: shownSetup(toStart)?.text },
        { label: here === undefined ? 'run' : 'run here', value: shellLine(command, 'linux') },
        { label: 'variables', value: namesOf(toStart).join(', ') },
        { label: 'copy out', value: copyOutText({ fetch, here }) },
        { label: 'terminate', value: `when the command exits, or ${wantedText(ends)}` },
        { label: 'interrupt', value: interruptText(ends, grace) },
        {
          label: 'rescue',
          value: isRescueWanted(ends) ? `${ends.rescue?.join(', ')} before a deadline` : null,
        },
        { label: 'cost', value: plannedCostText(cost) },
      ],
    },
  ],
  secrets: REQUEST_SECRETS,
  json: ({
    request,
    command,
    toStart,
    files,
    overview,
    fetch,
    ends,
    deadline,
    if_idle_seconds,
    max_price,
    would_send,
    from_profile,
    names,
    here,
    cost,
  }) => ({
    request,
    ...(here === undefined ? {} : { names, min_count: here.minCount ?? names.length }),
    command,
    setup: shownSetup(toStart)?.text ?? null,
    variables: namesOf(toStart),
    sync:
      files === undefined || overview === undefined
        ? null
        : {
            folder: files.folder,
            files: files.count,
            bytes: files.bytes,
            largest: overview.largest,
            left_out: {
              files: overview.leftOut.count,
              bytes: overview.leftOut.bytes,
              partial: overview.leftOut.isPart,
            },
          },
    fetch,
    terminate: wantedText(ends) ?? null,
    cost_at_most: cost.cost_at_most,
    cost_estimate: cost.cost_estimate,
    deadline,
    if_idle_seconds,
    max_price,
    would_send,
    from_profile,
  }),
};

/** The command has less time than its instance: the rest is for copying results. */
function interruptText(ends: JobPlan['ends'], given: number | undefined): string | null {
  const wanted = wantedDeadline(ends);
  if (wanted === undefined) return null;
  const grace = given ?? ('after' in wanted ? graceFor(wanted.after) : undefined);
  if (grace === undefined) return '2 to 15 min before the deadline (--grace)';
  return earlyText(grace) ?? null;
}

function namesOf({ variables }: JobPlan['toStart']): string[] {
  return variables.map(({ key }) => key);
}
