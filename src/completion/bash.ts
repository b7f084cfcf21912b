import { HEAD, type Model, type ModelPlace } from './model.ts';
import { quoted } from './quote.ts';

/**
 * Works from bash 3.2 on, which macOS still has; it needs no package bash-completion.
 *
 * Bash copies a function whole each time it is called, so that one big table would cost more than
 * all the rest: each place has a small function of its own.
 */
export function bashScript(model: Model): string {
  return `# bash completion for gpucloud
${HEAD.map((line) => `# ${line}`).join('\n')}

${tables(model)}
${ENGINE}`;
}

function word(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : quoted(text);
}

/** What stands in the name of the function of a place; none for the root. */
function keyOf(path: string): string {
  return path.replace(/[^A-Za-z0-9]/g, '_');
}

function tables({ shared, places, values }: Model): string {
  const own = new Map<string, string[]>();
  const everywhere: string[] = [];
  for (const { keys, offer } of values) {
    const flags = new Map<string, string[]>();
    for (const key of keys) {
      const [path = '', flag = ''] = key.split(':');
      flags.set(path, [...(flags.get(path) ?? []), flag]);
    }
    for (const [path, names] of flags) {
      const branch = `    ${names.join('|')}) offer=${word(offer)} ;;`;
      if (path === '*') everywhere.push(branch);
      else own.set(path, [...(own.get(path) ?? []), branch]);
    }
  }
  const functions = places.map((place) =>
    [
      `__gpucloud_at_${keyOf(place.path)}() {`,
      '  case $1 in',
      ...place.steps.map(({ words, to, topics }) => {
        // From "help" on it is the words of a command.
        const goes =
          topics === undefined
            ? `path=${keyOf(to)}`
            : `path= helping=${word(topics.join(' ') || 'yes')}`;
        return `    ${words.join('|')}) ${goes} ;;`;
      }),
      ...(own.get(place.path) ?? []),
      `    ' ') ${placeLine(place)} ;;`,
      '    *) return 1 ;;',
      '  esac',
      '}',
    ].join('\n'),
  );
  return `# What a word means at a place: a step to another place ("path"), or a flag that takes something
# ("offer", with "=" before what may be left out). A blank asks for all that there is.
${functions.join('\n\n')}

# The flags that every place has.
__gpucloud_everywhere() {
  case $1 in
${everywhere.join('\n')}
    ' ') flags="$flags "${quoted(shared.flatMap(({ names }) => names).join(' '))} ;;
    *) return 1 ;;
  esac
}
`;
}

function placeLine(place: ModelPlace): string {
  const parts = [
    ['verbs', place.below.map(({ name }) => name).join(' ')],
    ['also', place.aliases.map(({ name }) => name).join(' ')],
    ['flags', place.flags.flatMap(({ names }) => names).join(' ')],
    ['alone', place.shares ? '' : '1'],
    ['repeats', place.repeats ? '1' : ''],
  ].flatMap(([name, text]) => (text === '' ? [] : [`${name}=${word(text ?? '')}`]));
  const takes = place.takes.length === 0 ? [] : [`takes=(${place.takes.map(word).join(' ')})`];
  return [...parts, ...takes].join(' ') || ':';
}

const ENGINE = `# What the flag $1 takes at "path", in "offer"; fails for a switch.
__gpucloud_value() {
  __gpucloud_at_$path "$1" || __gpucloud_everywhere "$1"
}

# The cache folder, by the rules of gpucloud itself.
__gpucloud_folder() {
  local state=\${GPUCLOUD_STATE_DIR-} base
  folder=
  if [[ -n $state ]]; then
    [[ $state != /* ]] || folder=$state/cache
  else
    case \${OSTYPE-} in
      darwin*) base=\${HOME-}/Library/Caches ;;
      msys*|cygwin*) base=\${LOCALAPPDATA-}; [[ -z $base ]] || folder=$base/gpucloud/cache; return ;;
      *)
        base=\${XDG_CACHE_HOME-}
        [[ $base == /* ]] || base=\${HOME-}/.cache ;;
    esac
    [[ $base != /* ]] || folder=$base/gpucloud
  fi
}

# The lines of the file $1, in "lines"; fails when there are none.
__gpucloud_lines() {
  lines=()
  [[ -f $1 && -r $1 ]] || return 1
  if ((BASH_VERSINFO[0] >= 4)); then
    mapfile -t lines < "$1"
  else
    IFS=$'\\n' read -r -d '' -a lines < "$1"
  fi
  [[ -n \${lines+set} ]]
}

# Whose names they are, in "slot", by the rules of gpucloud itself.
__gpucloud_slot() {
  slot=\${profile:-\${GPUCLOUD_PROFILE-}}
  if [[ -z $slot ]]; then
    if __gpucloud_lines "$folder/profiles.tsv" && [[ \${lines[0]} == *"$tab"current ]]; then
      slot=\${lines[0]#*$tab} slot=\${slot%%$tab*}
    fi
    [[ $slot != sandbox || -z $address\${GPUCLOUD_BASE_URL-} ]] || slot=-env
  fi
  if [[ $slot != sandbox && -n $address\${GPUCLOUD_BASE_URL-}\${GPUCLOUD_API_KEY-} ]]; then
    slot=-env
  fi
  [[ -n $slot && $slot != */* ]]
}

# Offers the names of the kind $1 that begin with "cur". The first line of a file holds all of its
# names: whatever is done with each line of a hundred costs more than all the rest.
__gpucloud_names() {
  local folder line name file tab=$'\\t' plain=$cur open= slot=
  local -a lines all fitting=()
  case $cur in
    \\"*) open=\\" plain=\${cur#?} ;;
    \\'*) open=\\' plain=\${cur#?} ;;
    *\\\\*) plain=\${cur//\\\\/} ;;
  esac
  __gpucloud_folder
  [[ -n $folder ]] || return
  folder=$folder/completion
  if [[ $1 == profile ]]; then
    __gpucloud_lines "$folder/profiles.tsv" || return
    fitting=("\${lines[@]#*$tab}")
    fitting=("\${fitting[@]%%$tab*}")
  else
    __gpucloud_slot || return
    file=$folder/names/$slot/$1.tsv
    [[ -f $file && -r $file ]] || return
    IFS=$tab read -r -a fitting < "$file"
    # A file without that first line is of another version.
    [[ \${fitting-} != "$1" ]] || return
  fi
  if [[ -n $plain && -n \${fitting+set} ]]; then
    all=()
    for name in "\${fitting[@]}"; do
      [[ $name != "$plain"* ]] || all[\${#all[@]}]=$name
    done
    fitting=(\${all[@]+"\${all[@]}"})
    # No name fits: it may be the beginning of an id.
    if [[ -z \${fitting+set} && $1 != profile ]] && __gpucloud_lines "$file"; then
      for line in "\${lines[@]:1}"; do
        line=\${line#*$tab*$tab}
        [[ $line != "$plain"* ]] || fitting[\${#fitting[@]}]=\${line%%$tab*}
      done
    fi
  fi
  [[ -n \${fitting+set} ]] || return
  # Plain words are what quotes would leave as it is: all are tried at once.
  IFS=:
  line=":\${fitting[*]}"
  printf -v name %q "$line"
  if [[ -n $open || $name != "$line" || $line == *:[#~-]* ]]; then
    for name in "\${fitting[@]}"; do __gpucloud_odd "$name"; done
  else
    if [[ $used != / ]]; then
      # What is there already is not offered again.
      line=$line:
      for name in "\${typed[@]}"; do line=\${line/":$name:"/:}; done
      fitting=(\${line#:})
    fi
    if [[ -z \${fitting+set} ]]; then
      :
    elif [[ -z $prefix\${COMPREPLY+set} ]]; then
      COMPREPLY=("\${fitting[@]}")
    else
      COMPREPLY=(\${COMPREPLY[@]+"\${COMPREPLY[@]}"} "\${fitting[@]/#/$prefix}")
    fi
  fi
  IFS=$' \\t\\n'
}

# Offers what the machine in the first argument has of the kind $1: its endpoints or secrets.
__gpucloud_parts() {
  local folder line tab=$'\\t' plain=$cur open= slot= machine=\${typed-}
  local -a lines
  case $cur in
    \\"*) open=\\" plain=\${cur#?} ;;
    \\'*) open=\\' plain=\${cur#?} ;;
    *\\\\*) plain=\${cur//\\\\/} ;;
  esac
  __gpucloud_folder
  [[ -n $folder && -n $machine ]] || return
  folder=$folder/completion
  __gpucloud_slot && __gpucloud_lines "$folder/names/$slot/$1.tsv" || return
  for line in "\${lines[@]}"; do
    if [[ $line == "$1$tab$plain"*"$tab$machine$tab"* || $line == "$1$tab$plain"*"$tab$machine" ]]; then
      line=\${line#*$tab}
      __gpucloud_odd "\${line%%$tab*}"
    fi
  done
}

# Offers the name $1 in a form that the shell takes for one plain word, whatever it holds.
__gpucloud_odd() {
  local word=$1
  case $open in
    \\") [[ $word != *[\\"\\\\\\\`\\$\\!]* ]] || return ;;
    \\') [[ $word != *\\'* ]] || return ;;
    *) printf -v word %q "$word" ;;
  esac
  [[ $used == *"/$word/"* ]] || COMPREPLY[\${#COMPREPLY[@]}]=$prefix$word
}

# Offers those of the words $@ that begin with "cur".
__gpucloud_words() {
  local word all
  if ((\${#cur} < 3)); then
    for word; do
      [[ $word != "$cur"* ]] || COMPREPLY[\${#COMPREPLY[@]}]=$prefix$word
    done
  else
    # From hit to hit is quicker than from word to word.
    all=" $*"
    while [[ $all == *" $cur"* ]]; do
      all=\${all#*" $cur"}
      COMPREPLY[\${#COMPREPLY[@]}]=$prefix$cur\${all%% *}
    done
  fi
}

# Makes the names that are offered beginnings of a path on a machine: "trainer:".
__gpucloud_hosts() {
  local name
  local -a names=(\${COMPREPLY[@]+"\${COMPREPLY[@]}"})
  COMPREPLY=()
  for name in \${names[@]+"\${names[@]}"}; do
    # No path begins with these: scp would read them otherwise.
    [[ $name == *[:/@]* ]] || COMPREPLY[\${#COMPREPLY[@]}]=$name:
  done
}

# Offers files; where something else is offered too, readline does not know which are meant. $1
# stands after those that are no folders.
__gpucloud_files() {
  local file word plain=\${cur//\\\\/}
  for file in "$plain"*; do
    [[ -e $file ]] || continue
    printf -v word %q "$file"
    if [[ -d $file ]]; then word=$word/; __gpucloud_compopt -o nospace; else word=$word\${1-}; fi
    COMPREPLY[\${#COMPREPLY[@]}]=$prefix$word
  done
}

__gpucloud_compopt() {
  ((BASH_VERSINFO[0] < 4)) || compopt "$@" 2> /dev/null
}

__gpucloud_offer() {
  local kind=\${1%% *} word given
  case $kind in
    names) for word in \${1#* }; do __gpucloud_names "$word"; done ;;
    part) __gpucloud_parts "\${1#* }" ;;
    words) __gpucloud_words \${1#* } ;;
    # Nothing is offered, and readline takes over: it knows file names best.
    file) __gpucloud_compopt -o default -o filenames ;;
    # A machine with a colon, or a file; what follows the colon, only the machine knows.
    path)
      [[ \${cur%%/*} != *:* ]] || return
      __gpucloud_names instance
      __gpucloud_hosts
      if [[ -z \${COMPREPLY+set} ]]; then
        __gpucloud_compopt -o default -o filenames
      else
        __gpucloud_compopt -o nospace
        __gpucloud_files ' '
      fi ;;
    # NAME=VALUE, or @FILE for one or both.
    field)
      if [[ $cur == *@* ]]; then
        prefix=$prefix\${cur%%@*}@ cur=\${cur#*@}
        __gpucloud_files
      fi ;;
    list)
      __gpucloud_compopt -o nospace
      given=,
      [[ $cur != *,* ]] || { given=,\${cur%,*}, prefix=$prefix\${cur%,*}, cur=\${cur##*,}; }
      for word in \${1#* }; do
        [[ $given == *",$word,"* ]] || __gpucloud_words "$word"
      done ;;
    sort)
      [[ $cur != -* ]] || { prefix=$prefix- cur=\${cur#-}; }
      __gpucloud_words \${1#* } ;;
    port)
      __gpucloud_compopt -o nospace
      case $cur in
        *,*) prefix=$prefix\${cur%,*}, cur=\${cur##*,}; __gpucloud_words name= main ;;
        *:*/*) prefix=$prefix\${cur%/*}/ cur=\${cur##*/}; __gpucloud_words tcp udp ;;
      esac ;;
  esac
}

# Bash has cut the line at "=" and ":" too; puts back together what stands without a blank between.
__gpucloud_join() {
  local lead i
  n=0 words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    lead=\${line%%[![:space:]]*}
    line=\${line:\${#lead}}
    [[ \${line:0:\${#word}} == "$word" ]] || word=$line
    if [[ -n $lead || $n == 0 ]]; then words[n++]=$word; else words[n-1]+=$word; fi
    line=\${line:\${#word}}
  done
  part=$word
}

# Short flags in one word: -qo is -q -o, and -ojson is -o json. Says in "at" where the value begins
# of the one that takes something; fails when none does.
__gpucloud_cluster() {
  for ((at = 1; at < \${#1}; at++)); do
    if __gpucloud_value "-\${1:at:1}" && [[ $offer != =* ]]; then
      ((++at))
      return 0
    fi
  done
  return 1
}

_gpucloud() {
  local IFS=$' \\t\\n' path= offer= cur= prefix= profile= address= pending= literal= helping=
  local used=/ verbs= also= flags= alone= repeats= line=\${COMP_LINE:0:COMP_POINT}
  local word=\${COMP_WORDS[COMP_CWORD]} part whole lead i at n=$((COMP_CWORD + 1)) count=0
  local -a words takes typed
  # In a variable, since old shells stumble over such signs in a pattern.
  local breaks='*[=:@<>;|&(]*'
  COMPREPLY=() takes=() typed=() part=$word
  if [[ $line == $breaks || $line != *"$word" ]]; then
    __gpucloud_join
  else
    words=("\${COMP_WORDS[@]:0:n}")
  fi

  for ((i = 1; i < n - 1; i++)); do
    word=\${words[i]}
    if [[ -n $pending ]]; then
      case $pending in
        --profile) profile=$word ;;
        --base-url) address=1 ;;
      esac
      pending=
      continue
    fi
    case $literal$word in
      --) literal=1 ;;
      --profile=*) profile=\${word#*=} ;;
      --base-url=*) address=1 ;;
      --*=*) ;;
      --*)
        if __gpucloud_value "$word" && [[ $offer != =* ]]; then pending=$word; fi ;;
      -?*)
        if __gpucloud_cluster "$word" && ((at == \${#word})); then pending=-\${word:at-1}; fi ;;
      *)
        if [[ -n $literal ]] || ! __gpucloud_at_$path "$word"; then
          ((++count))
          used=$used$word/ typed[\${#typed[@]}]=$word
        fi ;;
    esac
  done
  profile=\${profile//[\\"\\'\\\\]/}

  cur=\${words[n - 1]-} whole=$cur offer=
  if [[ -n $pending ]]; then
    __gpucloud_value "$pending"
  elif [[ -z $literal && $cur == --*=* ]]; then
    prefix=\${cur%%=*}= cur=\${cur#*=}
    __gpucloud_value "\${prefix%=}"
    offer=\${offer#=}
  elif [[ -z $literal && $cur == -[!-]?* ]]; then
    if __gpucloud_cluster "$cur" && ((at < \${#cur})); then
      prefix=\${cur:0:at} cur=\${cur:at}
    else
      # All is said: another Tab puts the blank.
      offer="words $cur"
    fi
  else
    __gpucloud_at_$path ' '
    if [[ -z $literal && $cur == -* ]]; then
      [[ -n $alone ]] || __gpucloud_everywhere ' '
      offer="words $flags"
    elif [[ -n $verbs ]]; then
      __gpucloud_words $verbs
      [[ -z $helping || -n $path ]] || __gpucloud_words $helping
      [[ -n \${COMPREPLY+set} || -z $cur ]] || __gpucloud_words $also
    elif [[ -n $helping ]]; then
      return
    elif ((count < \${#takes[@]})); then
      offer=\${takes[count]}
    elif [[ -n $repeats ]]; then
      offer=\${takes[\${#takes[@]} - 1]}
    fi
  fi
  [[ -z $offer ]] || __gpucloud_offer "$offer"

  # Readline puts what is offered in the place of the last piece alone.
  [[ $part == *[!=:@]* ]] || part=
  lead=\${whole%"$part"}
  # An "@" belongs to the piece after it, as that of a host.
  lead=\${lead%@}
  if [[ -n $lead ]]; then
    for ((i = 0; i < \${#COMPREPLY[@]}; i++)); do COMPREPLY[i]=\${COMPREPLY[i]#"$lead"}; done
  fi
}

if ((BASH_VERSINFO[0] >= 4)); then
  complete -F _gpucloud gpucloud
else
  complete -o default -F _gpucloud gpucloud
fi
`;
