/** A place that takes the secret of a new key, made ready before the key is asked for. */
export interface Place {
  /** Completes "Its secret rests in …". */
  readonly where: string;
  /** Throws CliError('storage') when the secret is not there afterwards. */
  keep(secret: string): Promise<void>;
  /** Takes back what was made ready, when there is no secret to keep. */
  drop(): Promise<void>;
}
