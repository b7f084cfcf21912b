import type { JobGpu } from '../../json-results/jobs.ts';

/** Formats the use of the cards as `GPU busy 12 % on average, peak memory 3.1 of 24 GiB`. */
export function gpuWords({ busy_percent, peak_memory_mib, memory_total_mib }: JobGpu): string {
  const peak = `${inGib(peak_memory_mib)} of ${inGib(memory_total_mib)} GiB`;
  return `GPU busy ${busy_percent} % on average, peak memory ${peak}`;
}

function inGib(mib: number): number {
  return Number((mib / 1024).toFixed(1));
}
