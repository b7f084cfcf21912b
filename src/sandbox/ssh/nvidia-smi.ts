/**
 * `nvidia-smi` on an instance of the sandbox: a table, `-L`, and `--query-gpu=FIELDS --format=csv`.
 * Reads the cards and the load from the files of place.ts. Without a set load, the cards are busy
 * while a job of `gpucloud run` runs.
 */
export const NVIDIA_SMI = `#!/bin/sh
# nvidia-smi of the gpucloud sandbox.
here=$(cd "$(dirname "$0")/.." && pwd) || exit 1
job=$here/home/gpucloud-run
if [ -s "$here/load" ]; then load=$(cat "$here/load")
elif [ -d "$job/started" ] && [ ! -f "$job/exit" ]; then load=97
else load=0
fi
mode=table fields= format=
for word; do
  case $word in
    --query-gpu=*) mode=query fields=\${word#*=} ;;
    --format=*) format=\${word#*=} ;;
    -L | --list-gpus) mode=list ;;
    *) echo "nvidia-smi of the sandbox: unknown option $word" >&2; exit 2 ;;
  esac
done
awk -F '\\t' -v mode="$mode" -v fields="$fields" -v format="$format" -v load="$load" '
BEGIN {
  units = format !~ /nounits/
  count = split(fields, wanted, / *, */)
  line = "+-----------------------------------------------------------------------------+"
  if (mode == "query" && format !~ /noheader/) {
    for (i = 1; i <= count; i++) {
      unit = wanted[i] ~ /^memory/ ? " [MiB]" : wanted[i] ~ /^utilization/ ? " [%]" : \\
        wanted[i] ~ /^power/ ? " [W]" : ""
      printf "%s%s", (i > 1 ? ", " : ""), wanted[i] unit
    }
    print ""
  }
  if (mode == "table") {
    print line
    printf "| %-75s |\\n", "NVIDIA-SMI of the gpucloud sandbox: no card is used"
    print line
    printf "| %-3s %-30s %14s %14s %10s |\\n", "GPU", "Name", "Temp, power", "Memory, MiB", "GPU-Util"
    print line
  }
}
{
  used = int($4 * load * 0.009)
  value["index"] = NR - 1
  value["name"] = $1
  value["uuid"] = value["gpu_uuid"] = $2
  value["driver_version"] = $3
  value["memory.total"] = $4 (units ? " MiB" : "")
  value["memory.used"] = used (units ? " MiB" : "")
  value["memory.free"] = ($4 - used) (units ? " MiB" : "")
  value["utilization.gpu"] = load (units ? " %" : "")
  value["utilization.memory"] = int(load / 2) (units ? " %" : "")
  value["temperature.gpu"] = 35 + int(load * 0.4)
  value["power.draw"] = sprintf("%.2f", 30 + load * 3) (units ? " W" : "")
  if (mode == "list") printf "GPU %d: %s (UUID: %s)\\n", NR - 1, $1, $2
  if (mode == "query") {
    for (i = 1; i <= count; i++) {
      printf "%s%s", (i > 1 ? ", " : ""), (wanted[i] in value ? value[wanted[i]] : "[N/A]")
    }
    print ""
  }
  if (mode == "table") {
    printf "| %3d %-30s %14s %14s %10s |\\n", NR - 1, $1, \\
      value["temperature.gpu"] "C, " int(30 + load * 3) "W", used " / " $4, load "%"
  }
}
END { if (mode == "table") print line }
' "$here/cards"
`;
