import {
  type Driver,
  type Happened,
  next,
  type Observation,
  type Situation,
  stateOf,
} from './state.ts';

/** A failure that ends a step for good. The step itself has reported it. */
export type Failed = Situation['failed'];

/** What a driver can do to one job. Each function stores what happened before it returns. */
export interface Steps {
  /** The job as stored. */
  happened(): Promise<Happened>;
  /** The time, interrupts and schedule, now. */
  situation(): Promise<Omit<Situation, 'isInterrupted' | 'isCopied' | 'isKept' | 'failed'>>;
  look(): Promise<Observation>;
  /** Copies in, stores that the command starts, and starts it. */
  start(): Promise<Failed>;
  /** Returns what it saw last, also when the situation changes. */
  follow(): Promise<{ readonly seen: Observation; readonly failed: Failed }>;
  interrupt(): Promise<void>;
  stop(): Promise<Failed>;
  /** Stores the exit code of `seen`, copies the results and the output, and stores each. */
  collect(seen: Observation): Promise<Failed>;
  keep(why: 'command' | 'results'): Promise<void>;
  /** Waits a while, or until the situation changes. */
  stay(): Promise<void>;
  end(seen: Observation): Promise<void>;
  report(): Promise<void>;
  reportLost(): Promise<void>;
}

/** How a driver finished: `left` and `handedOver` if the job goes on without it. */
export type Finish = 'ended' | 'left' | 'handedOver';

/**
 * Moves a job on until nothing is left for this driver. The caller holds the job's lock, so only
 * one driver moves a job at a time.
 */
export async function drive(driver: Driver, steps: Steps): Promise<Finish> {
  let seen = await looked(steps);
  let failed: Failed = 'none';
  let [isInterrupted, isCopied, isKept] = [false, false, false];
  for (;;) {
    const job = await steps.happened();
    const now = { ...(await steps.situation()), failed, isInterrupted, isCopied, isKept };
    const state = stateOf(job, seen);
    switch (next(job, state, driver, now)) {
      case 'start':
        failed = await steps.start();
        seen = failed === 'none' ? { kind: 'running' } : await looked(steps);
        break;
      case 'follow':
        ({ seen, failed } = await steps.follow());
        break;
      case 'interrupt':
        await steps.interrupt();
        isInterrupted = true;
        break;
      case 'stop':
        failed = await steps.stop();
        isInterrupted = true;
        seen = await steps.look();
        break;
      case 'collect':
        failed = await steps.collect(seen);
        isCopied = seen.kind === 'running';
        if (failed === 'cut') seen = await steps.look();
        break;
      case 'keep':
        await steps.keep(job.collected ? 'command' : 'results');
        isKept = true;
        break;
      case 'stay':
        await steps.stay();
        failed = 'none';
        break;
      case 'end':
        await steps.end(seen);
        return 'ended';
      case 'report':
        await steps.report();
        return 'ended';
      case 'reportLost':
        await steps.reportLost();
        return 'left';
      case 'handOver':
        return 'handedOver';
      case 'leave':
        return 'left';
    }
  }
}

/** Before the start, nothing of the job can be on the instance. */
async function looked(steps: Steps): Promise<Observation> {
  const { started } = await steps.happened();
  return started ? steps.look() : { kind: 'absent' };
}
