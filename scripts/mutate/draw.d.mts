import type { Lines } from './faults.mjs';

export interface Fault extends Lines {
  readonly file: string;
}
export function draw(options: {
  root: string;
  only: string;
  seed: number;
  count: number;
  rejects: (faults: readonly Fault[]) => Promise<Set<Fault>>;
}): Promise<{ lines: number; drawn: Fault[] }>;
