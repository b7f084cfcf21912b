import type { Fault } from './draw.mjs';

type Found = (fault: Fault, by: string | undefined) => void;

export function judgeIn(
  copies: readonly string[],
  nearest: (source: string) => string[],
): {
  near(faults: readonly Fault[], found: Found): Promise<void>;
  whole(faults: readonly Fault[], found: Found): Promise<void>;
};
