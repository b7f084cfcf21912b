import type { KnownInstance, Rescue, RescueRecord } from '../../journal/index.ts';
import type { RescuedPath } from '../../json-results/instances.ts';

export type Progress = Pick<RescueRecord, 'due' | 'paths' | 'failing'>;

/** Returns what was copied so far. */
export function progressOf({ paths }: Rescue, found: RescueRecord | undefined): Progress {
  return found ?? { due: null, failing: null, paths: paths.map(notCopied) };
}

export function notCopied(path: Rescue['paths'][number]): RescueRecord['paths'][number] {
  const nothing = { copied_at: null, files: 0, bytes: 0, changing: [], failure: null };
  return { ...path, ...nothing, unplaced: null };
}

export function shownPaths(paths: readonly RescueRecord['paths'][number][]): RescuedPath[] {
  return paths.map(({ unplaced: _unplaced, ...path }) => path);
}

/** The fields of an instance with `--rescue`. */
export interface RescueFields {
  readonly rescue?: readonly RescuedPath[] | undefined;
  /** Why the last pass did not copy everything; null if it did. */
  readonly rescue_failing?: string | null | undefined;
}

export function rescueFields(rescue: KnownInstance['rescue']) {
  if (rescue === undefined) return {};
  const { paths, failing } = progressOf(rescue.wanted, rescue.found);
  return { rescue: shownPaths(paths), rescue_failing: failing?.message ?? null };
}

/** Formats `results, logs`, `results (copied)` or `results (failing)`. */
export function rescueState({ rescue, rescue_failing: failing }: RescueFields): string | undefined {
  if (rescue === undefined || rescue.length === 0) return undefined;
  const paths = rescue.map(({ remote }) => remote).join(', ');
  if (failing != null) return `${paths} (failing)`;
  return rescue.every(({ copied_at }) => copied_at !== null) ? `${paths} (copied)` : paths;
}
