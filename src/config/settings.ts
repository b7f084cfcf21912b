/** A value with where it came from, so that errors and `doctor` can say so. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: 'flag' | 'environment' | 'profile' | 'default';
}

/** What is in force for one command: flag > environment > profile > default. */
export interface Settings {
  /** The profile in force; undefined when there is none and none was asked for. */
  readonly profile: Sourced<string> | undefined;
  /** The built-in profile `sandbox`, which serves itself: it has no base URL and no key. */
  readonly sandbox: boolean;
  readonly baseUrl: Sourced<string> | undefined;
  readonly apiKey: Sourced<string> | undefined;
  /** The user id of the profile's account, noted at login; it keeps known machines apart. */
  readonly account: string | undefined;
}
