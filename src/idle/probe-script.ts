import { PROBE } from '../jobs/remote/supervisor.ts';

/** Time limit in seconds for a program that may hang, such as nvidia-smi with a broken driver. */
export const PROGRAM_LIMIT = 4;

/** Card fields, in this order. A comma inside a value makes the line unreadable. */
const CARD_FIELDS =
  'index,name,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw';

/** Number of reads of the cards, a second apart: a card is idle between two batches. */
export const CARD_SAMPLES = 3;

/**
 * Prints the use of an instance. Each part is between a `begin` line and an `end` line with the
 * exit code. A part that is cut off or mixed with other output has no `end` line of its own. Plain
 * POSIX sh; leaves nothing on the instance. $1 is the number of reads of the cards.
 *
 * Without utmp, as in a container, `who` lists nobody, so the access times of the terminals count
 * too. The sandbox sets GPUCLOUD_PROC, so that the user's own terminals in /dev/pts don't count.
 *
 * Implements the time limit with sleep, since `timeout` is not POSIX. A sleep that outlives its
 * program holds no stream of the connection.
 */
export const PROBE_SCRIPT = `LC_ALL=C; export LC_ALL
proc=\${GPUCLOUD_PROC:-/proc}
pts=\${GPUCLOUD_PROC:-/dev}/pts
part() {
  name=$1; shift
  echo "gpucloud-probe begin $name"
  "$@" 2>/dev/null
  echo "gpucloud-probe end $name $?"
}
limited() {
  "$@" </dev/null 2>/dev/null & p=$!
  (sleep ${PROGRAM_LIMIT}; kill -s KILL $p) </dev/null >/dev/null 2>&1 & w=$!
  wait $p; code=$?
  kill $w 2>/dev/null
  return $code
}
job() {
${PROBE}
}
boot() { cat "$proc/sys/kernel/random/boot_id"; sed 's/.*) //' "$proc/1/stat" | cut -d ' ' -f 20; }
cards() { limited nvidia-smi --query-gpu=${CARD_FIELDS} --format=csv,noheader,nounits; }
ptys() {
  for pty in "$pts"/[0-9]*; do
    [ -e "$pty" ] || continue
    at=$(stat -c %X "$pty") || return
    echo "$at $(date +%s)"
  done
}
part uptime cat "$proc/uptime"
part boot boot
part cpu1 cat "$proc/stat"
part net cat "$proc/net/dev"
part memory cat "$proc/meminfo"
part disk df -P /
part terminals limited who -u
part ptys ptys
part job job
sleep 1 & second=$!
i=1
while [ $i -le "$1" ]; do
  [ $i = 1 ] || sleep 1
  part cards$i cards
  i=$((i + 1))
done
wait $second
part cpu2 cat "$proc/stat"
echo 'gpucloud-probe done'`;
