import type { CreateInstanceBody, Instance } from '../api/index.ts';
import type { DeadlineFlags } from '../instances/deadlines/deadline.ts';
import type { CreateFlags } from '../instances/request/given.ts';
import type { Chosen } from '../instances/request/hardware.ts';
import type { HowToReach } from '../reach/reach.ts';
import type { Money } from '../rules/money.ts';
import type { Fetch } from './copy/copy-out.ts';
import type { FileList } from './copy/files.ts';
import type { Phases } from './phases.ts';
import type { JobRecord } from './record.ts';
import type { Stops } from './stops.ts';

/** A job as given on the command line. */
export interface JobInput {
  readonly flags: CreateFlags;
  readonly command: readonly string[];
  readonly sync: string | undefined;
  readonly exclude: readonly string[];
  readonly fetch: readonly Fetch[];
  /** Milliseconds. */
  readonly keepOnFailure: number | undefined;
  readonly how: HowToReach;
  readonly detach: boolean;
  /** The file of `--report`. */
  readonly report: string | undefined;
}

/** A job with everything that it needs, before any request that rents. */
export interface JobPlan extends JobInput {
  readonly ends: DeadlineFlags;
  readonly maxPrice: Money | undefined;
  readonly request: CreateInstanceBody;
  readonly offer: Chosen;
  readonly files: FileList | undefined;
}

/** A job on its instance, with its progress. */
export interface Job {
  readonly record: JobRecord;
  readonly how: HowToReach;
  readonly stops: Stops;
  readonly phases: Phases;
  /** Returns once the command has started. */
  readonly detach: boolean;
  /** Resumes a job that an earlier process began. */
  readonly isAttached: boolean;
  /** Of the command, once it ended. */
  exitCode: number | undefined;
  /** Local paths. */
  readonly fetched: string[];
  /** The last state read of the instance. */
  instance: Instance | undefined;
}
