import { FAILURES } from '../../errors.ts';
import type { Command } from '../command.ts';
import type { JobRecord, Setup } from '../record/record.ts';
import { SAMPLE } from './gpu-sample.ts';
import { shQuoted } from './remote-shell.ts';

// A job uses one folder in the user's home on the instance, where each script starts. The scripts
// are plain POSIX sh: dash and busybox run them too. A script that can't enter a folder fails like
// ssh itself, so that it is tried again: only a folder that does not exist says something about a
// job.
//
//   work/     the files of --sync, and the command's working folder
//   started/  made by the first request to start the command, so that it starts once; has the job's name
//   pid       the supervisor, which leads the process group of the command
//   since     its start time, which another process with that ID does not have (after a reboot);
//             set back a second, so that each file the command writes is newer, even if `find`
//             compares whole seconds
//   out, err  the command's output; a setup writes both of its outputs to err
//   setup     exists while the setup runs
//   gpu       the use of the cards since the command started, if nvidia-smi is there
//   cards     what nvidia-smi printed last
//   times     the seconds of the setup and of the command, once it exited
//   setup-done  the mark of the setup that has succeeded here; a later job skips the same setup
//   exit.new  receives the exit code in place, so that a full disk does not lose it
//   full      receives one byte at the end, which fails on a full disk
//   exit      the same file, renamed last

export const FOLDER = 'gpucloud-run';
export const WORK = `${FOLDER}/work`;

/** The first line of a script's own output. A login shell may print before it. */
export const STARTED = 'gpucloud-run started';
export const FOLLOWING = 'gpucloud-run follows';
/** Nothing of the job is there. */
export const GONE = 'gpucloud-run gone';

/** Exit code of a script that can't enter a folder: the same as ssh's own. */
const FAULT = 255;

/** The last line of a supervisor. If the connection is cut, stdin ends before this line. */
const WHOLE = '# whole';

/**
 * Runs the supervisor from stdin, after receiving all of it. Keeps the supervisor only in the
 * memory of sh, since it contains the values of the command's variables. No file or command line
 * may show these values.
 */
export const START = `(umask 077; mkdir -p ${WORK}) && cd ${FOLDER} && unset script &&
script=$(cat) && case $script in *'${WHOLE}') ;; *) exit 1 ;; esac && eval "$script"`;

/**
 * Runs the command and writes its exit code. sshd makes the supervisor the leader of a session, so
 * a signal to its group reaches the command. The supervisor survives: it traps the signals, and a
 * command does not inherit traps. The command runs in the foreground, since sh makes a background
 * command ignore SIGINT. The sampler of the cards ends with it. `job` names the job, since another
 * computer may start a job at the same time.
 */
export function supervisorOf({ words, variables, setup }: Command, job: string): string {
  const assigned = variables.map(({ key, value }) => `${key}=${shQuoted(value)}`);
  const exported = assigned.length === 0 ? '' : `export ${assigned.join(' ')} && `;
  const own = `started/${job.replace(/\W/g, '-')}`;
  return `mkdir started 2>/dev/null || {
  sleep 1
  [ -d ${own} ] || { echo 'another job was started there' >&2; exit 1; }
  echo '${STARTED}'
  exit 0
}
mkdir ${own}
: >out; : >err; : >full; echo '0000     ' >exit.new
cut -d ' ' -f 22 /proc/$$/stat >since 2>/dev/null
touch -d "@$(($(date +%s) - 1))" work since 2>/dev/null; echo $$ >pid
echo '${STARTED}'
exec </dev/null >/dev/null 2>&1
trap 'cut=1' HUP INT TERM
${SAMPLE}
keep() { echo "$@" >gpu.new && mv gpu.new gpu; :; }
now() { cut -d . -f 1 /proc/uptime 2>/dev/null || date +%s; }
code=0 full='' cut='' begun=$(now)
${setup === undefined ? '' : setupOf(setup, exported)}ready=$(now)
[ $code != 0 ] || {
  sampler=''
  ! command -v nvidia-smi >/dev/null || { sample keep & sampler=$!; }
  (cd work && ${exported}exec ${words.map(shQuoted).join(' ')}) >>out 2>>err
  code=$?
  [ -z "$sampler" ] || kill "$sampler"
}
echo $((ready - begun)) $(($(now) - ready)) >times
echo >>full || full=' full'
printf '%04d%-5s\\n' $code "$full" 1<>exit.new; mv exit.new exit
${WHOLE}
`;
}

/** Added to the exit code of a failed setup, after which the command was not started. */
const SETUP_FAILED = 1000;

/**
 * Runs the setup, unless its mark shows that it has succeeded here. Its process group is the
 * command's, so signals reach it too. After a signal, the command does not start, even if the setup
 * handled the signal.
 */
function setupOf({ text, mark, again }: Setup, exported: string): string {
  const isDone = `[ "$(cat setup-done 2>/dev/null)" = ${mark} ]`;
  return `${again ? '' : `${isDone} || `}{
  rm -f setup-done; : >setup
  (cd work && ${exported}exec sh -ec ${shQuoted(text)}) >>err 2>&1
  code=$?
  [ -z "$cut" ] || [ $code != 0 ] || code=130
  rm -f setup
  if [ $code = 0 ]; then echo ${mark} >setup-done; else code=$((code + ${SETUP_FAILED})); fi
}
`;
}

/** Reads the exit code that a supervisor stored. */
export function exitOf(code: number): Pick<JobRecord, 'exit_code' | 'setup_exit_code'> {
  return code < SETUP_FAILED
    ? { exit_code: code, setup_exit_code: null }
    : { exit_code: FAILURES.runFailed.exit, setup_exit_code: code - SETUP_FAILED };
}

/**
 * Treats state Z as exited: a container may have no init to reap zombies. Without /proc, both start
 * times are empty, so they match.
 */
const ALIVE = `alive() {
  p=$(cat pid) && kill -0 "$p" 2>/dev/null || return 1
  s=$(cut -d ' ' -f 3,22 "/proc/$p/stat" 2>/dev/null)
  case $s in 'Z '*) return 1 ;; esac
  [ "\${s#* }" = "$(cat since 2>/dev/null)" ]
}`;

/**
 * Prints both outputs from two byte offsets, in frames: \`o COUNT\` or \`e COUNT\` and a line end,
 * then that many bytes. \`g\` and four numbers show the use of the cards, \`t\` and two numbers the
 * seconds of the setup and of the command. \`x CODE\` is the last line (\`x CODE full\` if the
 * disk is full), or \`x lost\` if the supervisor is gone and left no exit code. With \`once\`, it does not wait for more: \`x now\` then ends the output. The end of
 * the command also ends the output, although a child of the command may write on. A dot every few
 * seconds shows that a quiet command's link is alive.
 *
 * dd skips whole blocks of a file without reading them, in busybox too.
 */
export const FOLLOW = `[ -d ${FOLDER} ] || { echo '${FOLLOWING}'; echo 'x lost'; exit; }
cd ${FOLDER} || exit ${FAULT}
o=$1 e=$2 once=$3 idle=0 gone='' over='' last_o='' last_e=''
${ALIVE}
alive || gone=1
echo '${FOLLOWING}'
send() {
  n=$((\${4:-$(wc -c <"$2")} - $3))
  [ "$n" -gt 0 ] || return 1
  [ "$n" -le 1048576 ] || n=1048576
  echo "$1 $n"
  dd if="$2" bs=65536 skip=$(($3 / 65536)) count=$((($3 % 65536 + n + 65535) / 65536)) 2>/dev/null |
    tail -c +$(($3 % 65536 + 1)) | head -c "$n"
}
while :; do
  if [ -z "$over" ]; then
    if [ -n "$gone" ] || ! kill -0 "$(cat pid)" 2>/dev/null; then over=lost; fi
    if [ -f exit ]; then over=exit; elif [ -z "$over" ] && [ -n "$once" ]; then over=now; fi
    [ -z "$over" ] || { last_o=$(wc -c <out); last_e=$(wc -c <err); }
  fi
  sent=''
  if send o out "$o" "$last_o"; then o=$((o + n)) sent=1; fi
  if send e err "$e" "$last_e"; then e=$((e + n)) sent=1; fi
  [ -z "$sent" ] || continue
  # The command may have written anything there, and echo may turn its \\n into a line end.
  [ -z "$over" ] || [ ! -f gpu ] || printf '%s\\n' "g $(head -n 1 gpu | head -c 60)"
  [ "$over" != exit ] || [ ! -f times ] || printf '%s\\n' "t $(head -n 1 times | head -c 60)"
  case $over in
    exit) echo x $(cat exit); exit 0 ;;
    lost | now) echo "x $over"; exit 0 ;;
  esac
  idle=$((idle + 1))
  [ $((idle % 20)) != 0 ] || { echo .; alive || gone=1; }
  sleep 0.2 2>/dev/null || sleep 1
done`;

/**
 * Sends the command SIGINT, as Ctrl-C does. Without a process group, only the supervisor gets it.
 */
export const INTERRUPT = `cd ${FOLDER} || exit ${FAULT}
${ALIVE}
alive || exit 0
kill -s INT -- "-$p" 2>/dev/null || kill -s INT "$p" || ! alive`;

/**
 * Stops the command with SIGINT, with SIGTERM after $1 seconds, and with SIGKILL after $1 more.
 * SIGKILL also kills the supervisor, so this script writes the exit code.
 */
export const STOP = `[ -d ${FOLDER} ] || exit 0
cd ${FOLDER} || exit ${FAULT}
${ALIVE}
send() { kill -s "$1" -- "-$p" 2>/dev/null || kill -s "$1" "$p" 2>/dev/null; }
ended() {
  i=0
  while alive; do
    [ $i -lt $1 ] || return 1
    i=$((i + 1))
    sleep 1
  done
}
alive || exit 0
send INT; ended $1 && exit 0
send TERM; ended $1 && exit 0
send KILL; ended 5 || exit 1
[ -f exit ] || {
  c=0137
  [ ! -f setup ] || c=1137
  printf '%s\\n' $c 1<>exit.new; mv exit.new exit
}`;

export const WROTE_NOTHING = 'gpucloud-run wrote nothing';

/**
 * Prints whether nothing in the command's folder, and no file in the home folder, has changed since
 * its supervisor started. Follows symlinks in the command's folder, which may lead to another disk.
 * Skips hidden files in the home folder, where a command that writes no results caches downloads,
 * and what Python caches when it imports a file, also as a change of the folder around it.
 * Prints nothing if \`find\` fails or is missing.
 */
export const WROTE = `[ -f ${FOLDER}/since ] &&
first=$({
  find -L ${WORK} -name __pycache__ -prune -o -newer ${FOLDER}/since \\
    ! '(' -type d -exec test -d '{}/__pycache__' ';' ')' -print &&
    find . ! -name . '(' -name '.*' -o -name __pycache__ -o -path ./${FOLDER} ')' -prune \\
      -o -type f -newer ${FOLDER}/since -print ||
    echo unknown
} | head -n 1) &&
[ -z "$first" ] && echo '${WROTE_NOTHING}'`;

export const BUSY = 'gpucloud-run busy';
export const FREE = 'gpucloud-run free';

/** Removes the state of an ended job before the next job starts. Keeps the synced folder. */
export const RESET = `[ -d ${FOLDER} ] || { echo '${FREE}'; exit; }
cd ${FOLDER} || exit ${FAULT}
${ALIVE}
# Its supervisor is just starting.
[ ! -d started ] || [ -f pid ] || sleep 1
if alive 2>/dev/null; then echo '${BUSY}'; exit; fi
rm -rf started && rm -f pid since out err full exit exit.new setup gpu gpu.new cards times && echo '${FREE}'`;

/** Prints where the last $2 bytes (\`$1\` is -c) or lines (-n) of each output begin. */
export const OFFSETS = `[ -d ${FOLDER} ] || { echo '${GONE}'; exit; }
cd ${FOLDER} || exit ${FAULT}
for from in out err; do
  echo "gpucloud-run $from $(($(wc -c <$from) - $(tail $1 "$2" $from | wc -c)))"
done`;

/**
 * Prints the state of the command, the home folder of this instance, and its copy tools. Starts in
 * a subshell, since the probe of idle instances runs it in a function.
 */
export const PROBE = `(
if [ -d ${FOLDER}/started ]; then
  home=$(pwd -P)
  cd ${FOLDER} || exit ${FAULT}
  ${ALIVE}
  state=running
  [ ! -f pid ] || alive || state=lost
  [ ! -f exit ] || { set -- $(cat exit); state="exited $*"; }
  [ $state != running ] || [ ! -f setup ] || echo gpucloud-run setup
  [ ! -f gpu ] || printf '%s\\n' "gpucloud-run gpu $(head -n 1 gpu | head -c 60)"
  cd "$home" || exit ${FAULT}
else state=none; fi
echo "gpucloud-run $state"
[ ! -f ${FOLDER}/setup-done ] || printf '%s\\n' "gpucloud-run set up $(head -n 1 ${FOLDER}/setup-done | head -c 64)"
echo "gpucloud-run home $(pwd -P)"
for tool in rsync tar; do command -v $tool >/dev/null 2>&1 && echo gpucloud-run $tool; done
echo gpucloud-run ready
)`;
