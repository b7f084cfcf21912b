import { useText } from '../../jobs/end/gpu.ts';
import { phasesText } from '../../jobs/end/receipt.ts';
import type { JobDetails, JobRow } from '../../json-results/jobs.ts';
import { field, type View } from '../../output/output.ts';
import { shellLine } from '../../output/shell-line.ts';

export const jobView: View<JobRow> = {
  columns: [
    field('name', 'NAME', { whole: true }),
    field('status', 'STATUS', { kind: 'status' }),
    field('phase', 'PHASE', { spared: true }),
    field('exit_code', 'EXIT'),
    { id: 'command', header: 'COMMAND', value: ({ command }) => shellLine(command, 'linux') },
    field('started_at', 'STARTED', { kind: 'time', spared: true }),
    field('seconds', 'SECONDS', { spared: true }),
    {
      id: 'gpu',
      header: 'GPU %',
      kind: 'load',
      spared: true,
      value: ({ gpu }) => gpu?.busy_percent,
    },
    field('cost_at_most', 'COST AT MOST', { kind: 'money', spared: true }),
    field('cost', 'COST', { kind: 'money' }),
    field('ends_at', 'DEADLINE', { kind: 'time' }),
    field('ended_at', 'ENDED', { kind: 'time', hidden: true }),
    field('id', 'ID', { hidden: true }),
  ],
  id: ({ id }) => id,
  empty: 'No jobs started on this computer.',
};

export const jobDetailsView: View<JobDetails> = {
  ...jobView,
  sections: [
    {
      lines: (job) => [
        { label: 'name', value: job.name },
        { label: 'id', value: job.id },
        { label: 'status', value: job.status, kind: 'status' },
        { label: 'exit code', value: job.exit_code },
        { label: 'phase', value: job.phase },
        { label: 'command', value: shellLine(job.command, 'linux') },
        { label: 'started', value: job.started_at, kind: 'time' },
        { label: 'ended', value: job.ended_at, kind: 'time' },
        { label: 'seconds', value: job.seconds },
        { label: 'cost', value: job.cost, kind: 'money' },
        { label: 'cost at most', value: job.cost_at_most, kind: 'money' },
        { label: 'phases', value: phasesText(job.phases) },
        { label: 'gpu', value: job.gpu && useText(job.gpu) },
        { label: 'deadline', value: job.ends_at, kind: 'time' },
        { label: 'fetched', value: job.fetched.join(', ') },
        { label: 'error', value: job.report?.error ?? job.reason },
        { label: 'last lines of setup', value: job.setup_output },
      ],
    },
  ],
};
