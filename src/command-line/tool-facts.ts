/** How agents use a command as a tool of `gpucloud mcp`. */
export interface ToolFacts {
  /** The lowest level of `--allow` that includes it. A `read` tool changes nothing. */
  readonly allow: 'read' | 'jobs' | 'all';
  /** Whether it deletes something for good. */
  readonly destroys?: true;
  /** Whether a second call with the same arguments changes nothing more. */
  readonly idempotent?: true;
  /** Whether it asks for a confirmation, which the level gives. */
  readonly asks?: true;
  /** Flags that no call of an agent can use. */
  readonly without?: readonly string[];
}
