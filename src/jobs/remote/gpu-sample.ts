import type { JobGpu } from '../../json-results/jobs.ts';

/** Seconds between two samples. */
const EVERY = 15;

/**
 * Defines `sample`, which after each sample of the cards calls its arguments with COUNT SUM PEAK
 * TOTAL: the number of readings of a card, the sum of their percentages, and the memory in MiB of
 * the card with the largest use. Keeping these four numbers needs no file of samples that grows.
 * Ignores Ctrl-C, which is for the command. Ends with the process $$ or with SIGTERM: `wait` returns
 * at a signal, so that a hanging nvidia-smi, as with a broken driver, holds nothing.
 */
export const SAMPLE = `sample() {
  trap '' HUP INT; trap 'kill -s KILL $! 2>/dev/null; exit' TERM
  n=0 sum=0 peak=-1 total=0
  while
    nvidia-smi --query-gpu=utilization.gpu,memory.used,memory.total --format=csv,noheader,nounits \\
      </dev/null >cards 2>/dev/null & wait $!
    kill -0 $$ 2>/dev/null
  do
    while IFS=', ' read -r u m t; do
      case $u/$m/$t in *[!0-9/]* | /* | *//* | */) continue ;; esac
      n=$((n + 1)) sum=$((sum + u))
      [ "$m" -le "$peak" ] || peak=$m total=$t
    done <cards
    "$@" $n $sum $peak $total || exit
    sleep ${EVERY} & wait $!
  done
}`;

/** Reads the numbers of `sample`; null unless they are the use of a card. */
export function gpuIn(text: string): JobGpu | null {
  const numbers = /^(\d{1,9}) (\d{1,12}) (\d{1,9}) (\d{1,9})$/.exec(text)?.slice(1).map(Number);
  const [count = 0, sum = 0, peak = 0, total = 0] = numbers ?? [];
  const isUse = count > 0 && sum <= count * 100 && total > 0 && peak <= total;
  if (!isUse) return null;
  return {
    busy_percent: Math.round(sum / count),
    peak_memory_mib: peak,
    memory_total_mib: total,
  };
}
