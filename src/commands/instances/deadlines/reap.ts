import { ruled } from '../../../cli/parse.ts';
import { action } from '../../../cli/verb.ts';
import { CliError, throwAll } from '../../../errors.ts';
import { beat, noteFailure } from '../../../instances/deadlines/heartbeat.ts';
import { type Reaped, reapOverdue } from '../../../instances/deadlines/reap.ts';
import type { View } from '../../../output/output.ts';
import { schedule } from '../../../rules/times.ts';

const reapedView: View<Reaped> = {
  columns: [
    { id: 'name', header: 'NAME', value: (row) => row.name },
    { id: 'id', header: 'ID', value: (row) => row.id },
    { id: 'deadline', header: 'DEADLINE', kind: 'time', value: (row) => row.deadline },
    { id: 'outcome', header: 'OUTCOME', value: (row) => row.outcome },
    {
      id: 'overdue_seconds',
      header: 'OVERDUE SECONDS',
      value: (row) => row.overdue_seconds,
      hidden: true,
    },
  ],
  id: ({ id }) => id,
  empty: 'Nothing is past its deadline.',
};

export const reap = action({
  view: reapedView,
  notes:
    "Terminates every instance of the account whose deadline has passed by the service's clock, " +
    'without asking.\n\n' +
    'Exits with 0 if nothing is past its deadline or all have ended, and with 7 if an outcome ' +
    'is unknown. Any number of runs may overlap.',
  ends: ['outcomeUnknown'],
  examples: ['gpucloud instances reap', 'gpucloud instances reap --every 10m'],
  takes: (command) =>
    command.option(
      '--every <duration>',
      'the interval at which a scheduler repeats this command, such as 5m',
      ruled('--every', schedule),
    ),
  async run(context, { every }) {
    const { rows, errors } = await noteFailure(every, context, () => reapOverdue(context));
    const unsaved = every === undefined ? [] : await failures(beat(every, context));
    await context.out.list(rows, reapedView);
    throwAll([...errors, ...unsaved]);
  },
});

/** Instances have been terminated by now, and their rows come first. */
async function failures(work: Promise<void>): Promise<CliError[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [error];
  }
}
