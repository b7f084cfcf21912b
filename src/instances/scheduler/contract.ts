import type { Start } from '../../programs.ts';

/** A command to schedule. It contains no secret. */
export interface Job {
  /** The name of the scheduler's entry, such as `gpucloud-reap-work`. */
  readonly name: string;
  readonly about: string;
  /** The absolute path of the program, and its arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The interval in milliseconds; whole minutes. */
  readonly every: number;
}

/** The folders that hold entries, and how to start the scheduler's own program. */
export interface Computer {
  readonly start: Start;
  readonly home: string;
  readonly uid: number;
  /** `$XDG_CONFIG_HOME`, if set. */
  readonly configHome: string | undefined;
}

/** A scheduler that a user may use without administrator rights. */
export interface Scheduler {
  readonly name: 'systemd' | 'launchd' | 'crontab' | 'schtasks';
  /** Printed once an entry is installed. */
  readonly note?: string;
  /** Whether this user can use the scheduler here. */
  isHere(): Promise<boolean>;
  /**
   * Installs the entry in place of an earlier one, and runs the command once if the scheduler can.
   */
  install(job: Job): Promise<void>;
  /** Milliseconds after which the scheduler has certainly started a new entry. */
  startsWithin(job: Job): number;
  hasEntry(name: string): Promise<boolean>;
  /** Removes the entry, if there is one. */
  uninstall(name: string): Promise<void>;
}
