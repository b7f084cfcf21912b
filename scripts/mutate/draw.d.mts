import type { Lines } from './faults.mjs';

export interface Fault extends Lines {
  readonly file: string;
}
export function draw(options: {
  root: string;
  only: string;
  seed: number;
  count: number;
  rejects: (fault: Fault) => Promise<boolean>;
}): Promise<{ lines: number; drawn: Fault[] }>;
