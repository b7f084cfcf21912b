import { shQuoted } from './remote-shell.ts';

// A job uses one folder in the user's home on the instance. The scripts are plain POSIX sh: dash and
// busybox run them too.
//
//   work/     the files of --sync, and the command's working folder
//   started/  made by the first request to start the command, so that it starts once
//   pid       the supervisor, which leads the process group of the command
//   out, err  the command's output
//   exit.new  takes the exit code in place, so that a full disk does not lose it
//   exit      the same file, renamed last

export const FOLDER = 'gpucloud-run';
export const WORK = `${FOLDER}/work`;

/** The first line of a script's own output. A login shell may print before it. */
export const STARTED = 'gpucloud-run started';
export const FOLLOWING = 'gpucloud-run follows';

/** The last line of a supervisor. A cut link ends stdin in the middle of it. */
const WHOLE = '# whole';

/**
 * Stores the supervisor from stdin, then runs it. A rename replaces the file, so a supervisor that
 * still reads the old one keeps it whole.
 */
export const START = `(umask 077; mkdir -p ${WORK}) && cd ${FOLDER} && cat >supervise.$$ &&
tail -n 1 supervise.$$ | grep -q '^${WHOLE}$' && mv supervise.$$ supervise && exec sh supervise`;

/**
 * Runs the command and writes its exit code. sshd makes the supervisor the leader of a session, so
 * a signal to its group reaches the command. The supervisor survives: it traps the signals, and a
 * command does not inherit traps. The command runs in the foreground, since sh makes a background
 * command ignore SIGINT.
 */
export function supervisorOf(command: readonly string[]): string {
  return `mkdir started 2>/dev/null || { sleep 1; echo '${STARTED}'; exit 0; }
: >out; : >err; echo $$ >pid; echo 000 >exit.new
echo '${STARTED}'
exec </dev/null >/dev/null 2>&1
trap : HUP INT TERM
(cd work && exec ${command.map(shQuoted).join(' ')}) >>out 2>>err
printf '%03d\\n' $? 1<>exit.new; mv exit.new exit
${WHOLE}
`;
}

/**
 * Prints both outputs from two byte offsets on, in frames: \`o COUNT\` or \`e COUNT\` and a line end,
 * then so many bytes. \`x CODE\` is the last line, or \`x lost\` if the supervisor is gone and left no
 * exit code. A dot every few seconds shows that a quiet command's link is alive.
 *
 * dd skips whole blocks of a file without reading them, in busybox too.
 */
export const FOLLOW = `cd ${FOLDER} 2>/dev/null || { echo '${FOLLOWING}'; echo 'x lost'; exit; }
o=$1 e=$2 idle=0
echo '${FOLLOWING}'
send() {
  n=$(($(wc -c <"$2") - $3))
  [ "$n" -gt 0 ] || return 1
  [ "$n" -le 1048576 ] || n=1048576
  echo "$1 $n"
  dd if="$2" bs=65536 skip=$(($3 / 65536)) count=$((($3 % 65536 + n + 65535) / 65536)) 2>/dev/null |
    tail -c +$(($3 % 65536 + 1)) | head -c "$n"
}
while :; do
  over='' sent=''
  if [ -f exit ]; then over=exit; elif ! kill -0 "$(cat pid)" 2>/dev/null; then over=lost; fi
  [ "$over" != lost ] || [ ! -f exit ] || over=exit
  if send o out "$o"; then o=$((o + n)) sent=1; fi
  if send e err "$e"; then e=$((e + n)) sent=1; fi
  [ -z "$sent" ] || continue
  case $over in
    exit) echo "x $(cat exit)"; exit 0 ;;
    lost) echo 'x lost'; exit 0 ;;
  esac
  idle=$((idle + 1))
  [ $((idle % 20)) != 0 ] || echo .
  sleep 0.2 2>/dev/null || sleep 1
done`;

/**
 * Sends the command SIGINT, as Ctrl-C does. Without a process group, only the supervisor gets it.
 */
export const INTERRUPT = `cd ${FOLDER} && p=$(cat pid) && { kill -s INT -- "-$p" 2>/dev/null || kill -s INT "$p"; }`;

/** Prints whether the command was started, and which copy tools this instance has. */
export const PROBE = `[ -d ${FOLDER}/started ] && echo gpucloud-run started
for tool in rsync tar; do command -v $tool >/dev/null 2>&1 && echo gpucloud-run $tool; done
echo gpucloud-run ready`;
