/** What the words and the kind of an error hang on: one documented operation with its arguments. */
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
  /** What may be so when its outcome is unknown, for the machine and the money. */
  readonly doubt?: string;
  /** Whether that costs money. */
  readonly bills?: boolean;
  /** The commands that settle an unknown outcome. */
  readonly settle?: string;
  /** The command that tries it again. */
  readonly again?: string;
  /** What a 404 says, and where to look. */
  readonly missing?: { readonly words: string; readonly hint: string };
  /** What to do after a documented 400 that is about the request. */
  readonly refusal?: string;
  /** What a documented 400 says: the state of a thing, not the request, is in the way. */
  readonly badState?: string;
}
