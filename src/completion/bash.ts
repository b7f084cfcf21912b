import { HEAD, type Model } from './model.ts';
import { quoted } from './quote.ts';

/** Works from bash 3.2 on, which macOS still has; it needs no package bash-completion. */
export function bashScript(model: Model): string {
  return `# bash completion for gpucloud
${HEAD.map((line) => `# ${line}`).join('\n')}

${tables(model)}
${ENGINE}`;
}

function tables({ shared, places, values }: Model): string {
  const steps = places.flatMap(({ path, steps: below }) =>
    below.map(
      ({ words, to, isHelp }) =>
        `    ${words.map((word) => quoted(`${path}:${word}`)).join('|')}) ${
          // From there on it is the words of a command.
          isHelp ? 'path= helping=1' : `path=${quoted(to)}`
        } ;;`,
    ),
  );
  const nodes = places.map((place) => {
    const parts = [
      ['verbs', place.below.map(({ name }) => name).join(' ')],
      ['also', place.aliases.map(({ name }) => name).join(' ')],
      ['flags', place.flags.flatMap(({ names }) => names).join(' ')],
      ['shared', place.shares ? '' : 'no'],
    ].flatMap(([name, text]) => (text === '' ? [] : [`${name}=${quoted(text ?? '')}`]));
    const takes = place.takes.length === 0 ? [] : [`takes=(${place.takes.map(quoted).join(' ')})`];
    const repeats = place.repeats ? ['repeats=1'] : [];
    return `    ${quoted(place.path)}) ${[...parts, ...takes, ...repeats].join(' ')} ;;`;
  });
  const offers = values.map(({ keys, offer }) => {
    const patterns = keys.map((key) => (key.startsWith('*') ? key : quoted(key)));
    return `    ${patterns.join('|')}) offer=${quoted(offer)} ;;`;
  });
  return `# Goes from the place "path" on by the word $1.
__gpucloud_step() {
  case $path:$1 in
${steps.join('\n')}
    *) return 1 ;;
  esac
}

# What there is at the place "path".
__gpucloud_place() {
  verbs= also= flags= shared= repeats= takes=()
  case $path in
${nodes.join('\n')}
  esac
  [[ -n $shared ]] || flags="$flags "${quoted(shared.flatMap(({ names }) => names).join(' '))}
}

# What the flag $1 takes at the place "path"; fails for a switch. "=" stands before what may be
# left out.
__gpucloud_value() {
  case $path:$1 in
${offers.join('\n')}
    *) return 1 ;;
  esac
}
`;
}

const ENGINE = `# The file of names for this command line, by the rules of gpucloud itself.
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

# The lines of the file $1, in "lines".
__gpucloud_lines() {
  lines=()
  [[ -f $1 && -r $1 ]] || return 1
  if ((BASH_VERSINFO[0] >= 4)); then
    mapfile -t lines < "$1"
  else
    local line
    while IFS= read -r line; do lines[\${#lines[@]}]=$line; done < "$1"
  fi
}

# Offers the names of the kind $1 that begin with "cur".
__gpucloud_names() {
  local kind=$1 tab=$'\\t' folder line name rest id want= not= plain=$cur open= slot=
  local -a lines
  local IFS=$' \\t\\n'
  case $kind in
    instance) not=TERMINATED ;;
    terminated-instance) kind=instance want=TERMINATED ;;
  esac
  case $cur in
    \\"*) open=\\" plain=\${cur#?} ;;
    \\'*) open=\\' plain=\${cur#?} ;;
    *\\\\*) plain=\${cur//\\\\/} ;;
  esac
  __gpucloud_folder
  [[ -n $folder ]] || return
  if [[ $kind == profile ]]; then
    __gpucloud_lines "$folder/completion/profiles.tsv"
  else
    slot=\${profile:-\${GPUCLOUD_PROFILE-}}
    if [[ -z $slot ]]; then
      __gpucloud_lines "$folder/completion/profiles.tsv"
      [[ \${lines[0]-} != profile*current ]] || { line=\${lines[0]#*$tab} slot=\${line%%$tab*}; }
      [[ $slot != sandbox || -z $address\${GPUCLOUD_BASE_URL-} ]] || slot=-env
    fi
    if [[ $slot != sandbox && -n $address\${GPUCLOUD_BASE_URL-}\${GPUCLOUD_API_KEY-} ]]; then
      slot=-env
    fi
    [[ -n $slot && $slot != */* ]] || return
    __gpucloud_lines "$folder/completion/names/$slot.tsv"
  fi
  for line in "\${lines[@]+"\${lines[@]}"}"; do
    [[ $line == "$kind$tab$plain"* ]] || continue
    [[ -z $not || $line != *"$tab$not" ]] || continue
    [[ -z $want || $line == *"$tab$want" ]] || continue
    line=\${line#*$tab}
    __gpucloud_name "\${line%%$tab*}"
  done
  [[ -n $plain && -z \${COMPREPLY+set} ]] || return 0
  # No name fits: it may be the beginning of an id.
  for line in "\${lines[@]+"\${lines[@]}"}"; do
    [[ $line == "$kind$tab"*"$tab$plain"*"$tab"* ]] || continue
    [[ -z $not || $line != *"$tab$not" ]] || continue
    [[ -z $want || $line == *"$tab$want" ]] || continue
    line=\${line#*$tab} rest=\${line#*$tab} id=\${rest%%$tab*}
    [[ $id != "$plain"* ]] || __gpucloud_name "$id"
  done
}

# Offers the name $1 in a form that the shell takes for one plain word, whatever it holds.
__gpucloud_name() {
  local word=$1
  case $open in
    \\") [[ $word != *[\\"\\\\\\\`\\$\\!]* ]] || return ;;
    \\') [[ $word != *\\'* ]] || return ;;
    *) [[ $word != *[!A-Za-z0-9._/+-]* ]] || printf -v word %q "$word" ;;
  esac
  # What is there already is not offered again.
  [[ $used == *$'\\n'"$word"$'\\n'* ]] || COMPREPLY[\${#COMPREPLY[@]}]=$prefix$word
}

# Offers those of the words $@ that begin with "cur".
__gpucloud_words() {
  local word
  for word; do
    [[ $word != "$cur"* ]] || COMPREPLY[\${#COMPREPLY[@]}]=$prefix$word
  done
}

__gpucloud_compopt() {
  ((BASH_VERSINFO[0] < 4)) || compopt "$@" 2> /dev/null
}

__gpucloud_offer() {
  local kind=\${1%% *} word given
  local IFS=$' \\t\\n'
  case $kind in
    names) for word in \${1#* }; do __gpucloud_names "$word"; done ;;
    words) __gpucloud_words \${1#* } ;;
    # Nothing is offered, and readline takes over: it knows file names best.
    file) __gpucloud_compopt -o default -o filenames ;;
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

_gpucloud() {
  local IFS=$' \\t\\n'
  local path= offer= cur= prefix= profile= address= pending= literal= helping=
  local used=$'\\n' verbs also flags shared repeats
  local line=\${COMP_LINE:0:COMP_POINT} word lead whole part i n=0 count=0
  local -a words takes
  COMPREPLY=()

  # Bash has cut the line at "=" and ":" too; put back together what stands without a blank between.
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    lead=\${line%%[![:space:]]*}
    line=\${line:\${#lead}}
    [[ \${line:0:\${#word}} == "$word" ]] || word=$line
    if [[ -n $lead || $n == 0 ]]; then words[n++]=$word; else words[n-1]+=$word; fi
    line=\${line:\${#word}}
  done
  part=$word

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
      -?*)
        if __gpucloud_value "$word" && [[ $offer != =* ]]; then pending=$word; fi ;;
      *)
        if [[ -n $literal ]] || ! __gpucloud_step "$word"; then
          ((++count))
          used=$used$word$'\\n'
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
  else
    __gpucloud_place
    if [[ -z $literal && $cur == -* ]]; then
      offer="words $flags"
    elif [[ -n $verbs ]]; then
      __gpucloud_words $verbs
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
