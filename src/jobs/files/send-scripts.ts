import { WORK } from '../remote/supervisor.ts';

// Scripts that send results from an instance, in plain POSIX sh. $1 is the path.

/** Marks the start of the scripts' output. */
export const BEGIN = 'gpucloud-run sends';

/** Only an absolute path can exist without the job's folder. */
const ENTER = `cd ${WORK} 2>/dev/null || case $1 in /*) ;; *) cd ${WORK} || exit 1 ;; esac`;
const ENTER_OR_NOTHING = `cd ${WORK} 2>/dev/null || case $1 in /*) ;; *)
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

/** Marks the start and the end of a list of hashes, and a path that does not exist. */
export const HASHES = {
  begin: 'gpucloud-run hashes',
  gone: 'gpucloud-run gone',
  end: 'gpucloud-run hashed',
} as const;

/**
 * Prints the SHA-256 of each file at a path, as sha256sum does: `./` and the name below the folder,
 * or below the folder that contains the file or match. Prints `unlisted` for each name with a line
 * feed, whose lines would look like other names, and `unread` if it could not read everything.
 */
const HASH = `echo '${HASHES.begin}'
[ -e "$1" ] || [ -h "$1" ] || echo '${HASHES.gone}'
if command -v sha256sum >/dev/null; then hash=sha256sum
elif command -v shasum >/dev/null; then hash='shasum -a 256'
else echo none; echo '${HASHES.end}'; exit; fi
hash_in() {
  (cd "$1" && unset IFS && find -H "$2" -name '*
*' -prune -exec echo unlisted \\; -o -type f -exec $hash {} +) || echo unread
}
parent() { case $1 in */*) printf '%s/' "\${1%/*}" ;; *) printf . ;; esac; }`;

export const HASH_PATH = `${ENTER}
${HASH}
if [ -d "$1" ]; then hash_in "$1" .; else echo file; hash_in "$(parent "$1")" "./\${1##*/}"; fi
echo '${HASHES.end}'`;

export const HASH_MATCHES = `${ENTER}
${EXPAND}
${HASH}
for one; do hash_in "$(parent "$one")" "./\${one##*/}"; done
echo '${HASHES.end}'`;

export const SEND_FILE = `${ENTER}
echo '${BEGIN}' && exec cat "$1"`;

export const SEND_FOLDER = `LC_ALL=C; export LC_ALL
${ENTER}
cd "$1" && echo '${BEGIN}' && exec tar -cf - .`;

/**
 * Sends the files of a folder whose names are on stdin, one per line, and all links and empty
 * folders, in one or more archives. Leaves out files that were removed meanwhile. Not `tar -T`, which
 * some builds of BusyBox lack. xargs exits with 123 if tar exits with 1, for a file that changed.
 */
export const SEND_NAMED = `LC_ALL=C; export LC_ALL
${ENTER}
cd "$1" && echo '${BEGIN}' && {
  while IFS= read -r name; do [ ! -f "$name" ] || printf '%s\\n' "$name"; done
  find . -name '*
*' -prune -o \\( -type l -o -type d -empty \\) -print
} | tr '\\n' '\\0' | xargs -r0 tar -cf -
code=$?
[ $code -ne 123 ] || code=1
exit $code`;
