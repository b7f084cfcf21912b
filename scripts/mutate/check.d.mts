import type { Fault } from './draw.mjs';

export function checkIn(copy: string): {
  rejects(fault: Fault): Promise<boolean>;
  close(): void;
};
