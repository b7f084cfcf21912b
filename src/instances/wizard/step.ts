import type { CreateFlags } from '../request/body.ts';

/** What an answer means. */
export interface Answer {
  /** The flags that it stands for, with ids in place of names. */
  readonly flags: CreateFlags;
  /** The same as a person types it; left out where it is no different. */
  readonly spoken?: CreateFlags;
  /** What the summary says of it. */
  readonly shown: string;
}

/** One question, or one thing that a flag or the file has answered already. */
export interface Step {
  /** In the summary: `SSH keys`. */
  readonly label: string;
  /** What was given; undefined where it is asked for. */
  readonly given: string | undefined;
  /** Asks. The answer before it, where the person changes it; undefined where there is nothing to choose. */
  ask(before: Answer | undefined): Promise<Answer | undefined>;
}
