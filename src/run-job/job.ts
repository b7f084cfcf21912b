import type { Instance } from '../api/index.ts';
import type { HowToReach } from '../reach/reach.ts';
import type { Phases } from './phases.ts';
import type { JobRecord } from './record.ts';
import type { Stops } from './stops.ts';

/** A job on its instance, with its progress. */
export interface Job {
  readonly record: JobRecord;
  readonly how: HowToReach;
  readonly stops: Stops;
  readonly phases: Phases;
  /** Returns once the command has started. */
  readonly detach: boolean;
  /** Of the command, once it ended. */
  exitCode: number | undefined;
  /** Local paths. */
  readonly fetched: string[];
  /** The last state read of the instance. */
  instance: Instance | undefined;
}
