import { WORK } from '../remote/supervisor.ts';

// Scripts that send results from an instance, in plain POSIX sh. $1 is the path.

/** Marks the start of the scripts' output. */
export const BEGIN = 'gpucloud-run sends';

/** Only an absolute path can exist without the job's folder. */
const ENTER = `cd ${WORK} || case $1 in /*) ;; *) exit 1 ;; esac`;
const ENTER_OR_NOTHING = `cd ${WORK} || case $1 in /*) ;; *)
  [ -d ${WORK} ] || echo '${BEGIN} nothing'; exit 1 ;;
esac`;

/** Refuses pipes and devices, since they may never end. */
export const KIND = `${ENTER_OR_NOTHING}
if [ -d "$1" ]; then echo "${BEGIN} folder $(du -sk "$1/." 2>/dev/null | cut -f 1)"
elif [ -f "$1" ]; then echo "${BEGIN} file $(stat -L -c %s "$1" 2>/dev/null)"
elif [ -e "$1" ]; then echo '${BEGIN} other'; else echo '${BEGIN} nothing'; fi`;

/** Expands a pattern, byte by byte. If nothing matches, the result is the pattern itself. */
const EXPAND = `LC_ALL=C; export LC_ALL; IFS=
set -- $1 || exit`;

/**
 * Prints the size of the matches, or "same" if two share a base name: they would overwrite each
 * other on this computer.
 */
export const KIND_OF_MATCHES = `${ENTER_OR_NOTHING}
${EXPAND}
[ -e "$1" ] || [ -h "$1" ] || { echo '${BEGIN} nothing'; exit; }
same=$(for one; do printf '%s\\n' "\${one##*/}"; done | sort | uniq -d | wc -l)
[ "$same" -eq 0 ] || { echo '${BEGIN} same'; exit; }
echo "${BEGIN} matches $(du -sk "$@" 2>/dev/null |
  { sum=0; while IFS=' \t' read -r size _; do sum=$((sum + size)); done; echo $sum; })"`;

/** Sends one archive per match, under its base name. If a match is a link, follows it. */
export const SEND_MATCHES = `${ENTER}
${EXPAND}
echo '${BEGIN}'
code=0
for one; do
  [ -h "$one" ] && how=-chf || how=-cf
  (cd "\${one%/*}/" && exec tar $how - "./\${one##*/}") || code=$?
done
exit $code`;

export const SEND_FILE = `${ENTER}
echo '${BEGIN}' && exec cat "$1"`;

export const SEND_FOLDER = `LC_ALL=C; export LC_ALL
${ENTER}
cd "$1" && echo '${BEGIN}' && exec tar -cf - .`;
