/** One documented operation with its arguments: what an error says and is hangs on it. */
export interface Operation {
  /** As the document heads it: `POST /instances`. */
  readonly heading: string;
  /** Completes "The service refused …": `to create the instance box`. */
  readonly doing: string;
  /** Whether it changes anything; what only reads can always be given up without a doubt. */
  readonly changes: boolean;
  /** Whether it can be repeated at will, doubt or no doubt. */
  readonly repeatable?: boolean;
  /** The id or name that an error names. */
  readonly resource?: string;
  /** What may be so if its outcome is unknown. */
  readonly doubt?: string;
  /** Whether that costs money. */
  readonly bills?: boolean;
  /** What a 404 means. */
  readonly missing?: string;
  /** Whether a documented 400 speaks of the state of a thing, not of the request. */
  readonly needsState?: boolean;
}
