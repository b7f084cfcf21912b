import type { Start } from '../../programs.ts';

/** A scheduled command. It contains no secret. */
export interface Job {
  /** The name of its entry, such as `gpucloud-reap-work`. */
  readonly name: string;
  readonly about: string;
  /** The program as an absolute path, and its arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds; whole minutes. */
  readonly every: number;
}

/** The folders of entries, and how to start the scheduler's own program. */
export interface Computer {
  readonly start: Start;
  readonly home: string;
  readonly uid: number;
  /** `$XDG_CONFIG_HOME`, if it is set. */
  readonly configHome: string | undefined;
}

/** A scheduler that a user may use without administrator rights. */
export interface Scheduler {
  readonly name: 'systemd' | 'launchd' | 'crontab' | 'schtasks';
  /** Printed once an entry is installed. */
  readonly note?: string;
  /** Whether it is available here. */
  isHere(): Promise<boolean>;
  /** Replaces any earlier entry, and runs the job once if the scheduler can. */
  install(job: Job): Promise<void>;
  /** Milliseconds after which a new entry has certainly been started. */
  startsWithin(job: Job): number;
  hasEntry(name: string): Promise<boolean>;
  /** Removes the entry; there may be none. */
  uninstall(name: string): Promise<void>;
}
