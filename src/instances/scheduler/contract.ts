import type { Start } from '../../system/programs.ts';

/** A command to schedule. Contains no secret. */
export interface Job {
  /** The entry's name, such as `gpucloud-reap-work`. */
  readonly name: string;
  readonly about: string;
  /** The program's absolute path, and its arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds between runs, in whole minutes. */
  readonly every: number;
}

/** The folders for entries, and how to start the scheduler's own program. */
export interface Computer {
  readonly start: Start;
  readonly home: string;
  /** Undefined on Windows. */
  readonly uid: number | undefined;
  /** `$XDG_CONFIG_HOME`, if set. */
  readonly configHome: string | undefined;
}

/** A scheduler for users without administrator rights. */
export interface Scheduler {
  readonly name: 'systemd' | 'launchd' | 'crontab' | 'schtasks';
  /** Printed after installing an entry. */
  readonly note?: string;
  /** Whether this user can use the scheduler on this computer. */
  isHere(): Promise<boolean>;
  /** Installs or replaces the entry, and runs the command once if the scheduler can. */
  install(job: Job): Promise<void>;
  /** Milliseconds within which the scheduler certainly starts a new entry. */
  startsWithin(job: Job): number;
  hasEntry(name: string): Promise<boolean>;
  /** Removes the entry if it exists. */
  uninstall(name: string): Promise<void>;
}
