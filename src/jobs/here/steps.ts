import type { Context } from '../../context.ts';
import { asCliError } from '../../errors.ts';
import type { Steps } from '../drive.ts';
import type { Job } from '../job.ts';
import { note, timeNow } from '../record/note.ts';
import { scriptFailed } from '../remote/failed-ssh.ts';
import { WORK } from '../remote/supervisor.ts';
import { orAborted } from '../remote/within.ts';
import { connect } from '../stages/connect.ts';
import { copyFiles } from '../stages/copies.ts';
import type { HereRun } from './run.ts';
import { sampleGpu } from './sample-gpu.ts';

/** The steps of one member of `run --here`: as for one instance, but all use one command here. */
export function hereSteps(job: Job, run: HereRun, steps: Steps, context: Context): Steps {
  const { stops, record } = job;
  const { name } = record;

  async function leaveOut(error: unknown): Promise<void> {
    job.failure = asCliError(error);
    if (job.record.command_started_at !== null) {
      await note(job, { command_started_at: null }, context);
    }
    run.leaveOut(job, job.failure);
  }

  return {
    ...steps,

    async situation() {
      const now = await steps.situation();
      // SIGHUP ends the command too, so nothing is left for `reap`.
      const interrupt = stops.last.aborted ? 'last' : now.interrupt;
      // Often only some instances have results, and each costs money while it is kept.
      const isWanted = now.keepsOnFailure || job.failure?.failure === 'storage';
      return { ...now, interrupt, keepsForResults: now.keepsForResults && isWanted };
    },

    /** The instance shows nothing of a command on this computer. */
    look: async () => job.seen,

    async start() {
      try {
        stops.any.throwIfAborted();
        await prepare(job, context);
        await run.begin(job);
        job.seen = { kind: 'running' };
        return 'none';
      } catch (error) {
        await leaveOut(error);
        return 'start';
      }
    },

    async follow() {
      try {
        if (job.there === undefined) throw new Error('no connection to the instance');
        const gpu = await sampleGpu(job.there.shell, async () => {
          job.seen = await run.followed(job);
        });
        if (gpu !== null) await note(job, { gpu }, context);
        return { seen: job.seen, failed: 'none' };
      } catch (error) {
        await leaveOut(error);
        return { seen: { kind: 'absent' }, failed: 'start' };
      }
    },

    /** The command gets the signals of this process. */
    interrupt: async () => undefined,

    async collect(seen) {
      run.showFetching();
      const failed = await steps.collect(seen);
      if (failed === 'none') run.faults.delete(name);
      else if (stops.last.aborted) run.fail(stops.last.reason);
      else if (job.failure !== undefined) run.faults.set(name, job.failure);
      return failed;
    },

    async keep(why) {
      await steps.keep(why);
      // Only now do the others know that this one does not end.
      void run.pace.reach(name, 'fetched');
    },

    /** Waits until the results of all members are here, unless this one must end now. */
    async end(seen) {
      if (run.ready.has(job)) {
        const fetched = run.pace.reach(name, 'fetched');
        await orAborted(fetched, stops.last).catch(() => undefined);
      }
      if (run.ready.has(job) || run.failure !== undefined) run.showTerminating();
      await steps.end(seen);
    },
  };
}

/** Waits for the instance, makes its folder, and copies the files of `--sync`. */
async function prepare(job: Job, context: Context): Promise<void> {
  if (job.early !== undefined) throw job.early;
  job.there = await connect(job, context);
  const printed = await job.there.shell.run(`mkdir -p ${WORK}`, job.stops.any);
  if (printed.code !== 0) throw scriptFailed(`Could not create ~/${WORK}`, printed);
  await copyFiles(job, job.there, context);
  await note(job, { copied_at: timeNow(context) }, context);
}
