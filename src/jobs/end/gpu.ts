import type { JobGpu } from '../../json-results/jobs.ts';

/** Formats the use of the cards as `GPU busy 12 % on average, peak memory 3.1 of 24 GiB`. */
export function gpuWords(gpu: JobGpu): string {
  return `GPU ${useText(gpu)}`;
}

/** Formats the use of the cards as `busy 12 % on average, peak memory 3.1 of 24 GiB`. */
export function useText(gpu: JobGpu): string {
  return `busy ${gpu.busy_percent} % on average, ${peakText(gpu)}`;
}

/** Formats the largest use of a card as `peak memory 3.1 of 24 GiB`. */
export function peakText({ peak_memory_mib, memory_total_mib }: JobGpu): string {
  return `peak memory ${inGib(peak_memory_mib)} of ${inGib(memory_total_mib)} GiB`;
}

function inGib(mib: number): number {
  return Number((mib / 1024).toFixed(1));
}
