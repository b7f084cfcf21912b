import type { CreateInstanceBody, Instance } from '../api/index.ts';
import type { Gate } from '../concurrency.ts';
import type { CliError } from '../errors.ts';
import type { CheckedEnds } from '../instances/deadlines/deadline.ts';
import type { Gates } from '../instances/rent/capacity.ts';
import type { Given } from '../instances/rent/given.ts';
import type { Chosen } from '../instances/rent/hardware.ts';
import type { Money } from '../rules/money.ts';
import type { HowToReach } from '../ssh/reach.ts';
import type { Command } from './command.ts';
import type { JobEnd } from './end/report.ts';
import type { Fetch } from './files/copy-out.ts';
import type { FileList, Overview } from './files/files.ts';
import type { Phases } from './phases.ts';
import type { Received } from './received.ts';
import type { Noted } from './record/note.ts';
import type { RentedRecord } from './record/record.ts';
import type { SignedIn } from './remote/probe.ts';
import type { Driver, Observation } from './state.ts';
import type { Stops } from './stops.ts';

/** A job as given on the command line. */
export interface JobInput {
  readonly given: Given;
  /** Names given with `--pass-env`. */
  readonly passEnv: readonly string[];
  readonly command: readonly string[];
  readonly sync: string | undefined;
  readonly exclude: readonly string[];
  /** Whether the .gitignore files in the `--sync` folder count. */
  readonly gitignore: boolean;
  readonly fetch: readonly Fetch[];
  /** Milliseconds; `--fetch-every`. */
  readonly fetchEvery: number | undefined;
  /** Milliseconds. */
  readonly keepOnFailure: number | undefined;
  /** Milliseconds; `--grace`. */
  readonly grace: number | undefined;
  readonly how: HowToReach;
  readonly detach: boolean;
  /** The file of `--report`, as an absolute path. */
  readonly report_file: string | null;
  /** `--here`: the command runs on this computer and uses the instances. */
  readonly here?: Here | undefined;
}

/** The number of instances for a command on this computer. */
export interface Here {
  /** undefined: one instance with exactly the given name. */
  readonly count: number | undefined;
  readonly minCount: number | undefined;
}

/** A fully prepared job, before any rental request. */
export interface JobPlan extends JobInput {
  /** The command's words, with the values of its variables masked. */
  readonly command: readonly string[];
  readonly toStart: Command;
  readonly ends: CheckedEnds;
  readonly maxPrice: Money | undefined;
  /** The request, with the name of the first instance. */
  readonly request: CreateInstanceBody;
  /** The names of all instances. */
  readonly names: readonly string[];
  /** Offers in the order of attempts. */
  readonly offers: readonly Chosen[];
  /** The values of the request that are the profile's defaults. */
  readonly from_profile: readonly string[];
  /** Milliseconds during which to retry refused offers. */
  readonly retryFor: number | undefined;
  readonly files: FileList | undefined;
  readonly overview: Overview | undefined;
}

/** What the instances of one run share. The run reports their ends together. */
export interface Together {
  /** The instances, such as `job-1 to job-4`. */
  readonly what: string;
  /** Limits concurrent requests to terminate. */
  readonly gate: Gate;
  readonly gates: Pick<Gates, 'reading'>;
  /** Shows the bytes that one instance's copy has copied so far. */
  copied(name: string, count: number, total?: number): void;
}

/** A job on its instance, with the progress of the process that drives it. */
export interface Job extends Noted<RentedRecord> {
  readonly how: HowToReach;
  readonly stops: Stops;
  readonly phases: Phases;
  readonly by: Driver;
  /** undefined for a job of its own. */
  readonly together: Together | undefined;
  /** The command to start; undefined for the recorded one, which has no variables. */
  readonly command: Command | undefined;
  /** Why the wait for the new instance stopped early. */
  readonly early: CliError | undefined;
  /** The instance, once it has responded over SSH. */
  there: SignedIn | undefined;
  /** The output, if this process follows it. */
  received: Received | undefined;
  /** false if the instance's disk was full when the command exited. */
  isOutputWhole: boolean;
  /** Local paths copied by this process. */
  fetched: readonly string[];
  /** Whether this process has interrupted the command. */
  isInterrupted: boolean;
  /** What the last look showed. */
  seen: Observation;
  /** Why the last step failed. */
  failure: CliError | undefined;
  /** The last state read of the instance. */
  instance: Instance | undefined;
  /** How the job stands, once this process is done with it. */
  end: JobEnd | undefined;
  /** Whether `jobs stop` has asked this process to stop the job. */
  readonly isStopAsked: () => boolean;
  /** `jobs stop` takes over: from then on, only that process writes the record. */
  isHandedOver: boolean;
}
