import { HEAD, type Model } from './model.ts';
import { quoted } from './quote.ts';

/** Works from bash 3.2 on, which macOS still has; it needs no package bash-completion. */
export function bashScript(model: Model): string {
  return `# bash completion for gpucloud
${HEAD.map((line) => `# ${line}`).join('\n')}

${tables(model)}
${ENGINE}`;
}

/** One level of a choice: bash tries the patterns of a `case` one by one, so that each is short. */
function choice(on: string, branches: readonly string[], otherwise: string): string {
  const all = [...branches, ...(otherwise === '' ? [] : [`*) ${otherwise} ;;`])];
  return `case ${on} in\n${all.map(indented).join('\n')}\nesac`;
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}

function word(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : quoted(text);
}

function tables({ shared, places, values }: Model): string {
  const steps = places
    .filter((place) => place.steps.length > 0)
    .map(({ path, steps: below }) => {
      const branches = below.map(
        ({ words, to, isHelp }) =>
          // From "help" on it is the words of a command.
          `${words.join('|')}) ${isHelp ? 'path= helping=1' : `path=${word(to)}`} ;;`,
      );
      return `${word(path)})\n${indented(choice('$1', branches, 'return 1'))} ;;`;
    });

  const [root, ...others] = places;
  const groups = [...new Set(others.map(({ path }) => path.split(' ')[0] ?? ''))];
  const nodes = groups.map((group) => {
    const branches = others
      .filter(({ path }) => path === group || path.startsWith(`${group} `))
      .map((place) => `${place.path.split(' ').at(-1)}) ${placeLine(place)} ;;`);
    return `${group})\n${indented(choice('${path#* }', branches, ''))} ;;`;
  });
  const rootNode = root === undefined ? [] : [`'') ${placeLine(root)} ;;`];

  const body = (text: string) => indented(text);
  return `# Goes from the place "path" on by the word $1.
__gpucloud_step() {
${body(choice('$path', steps, 'return 1'))}
}

# What there is at the place "path".
__gpucloud_place() {
  verbs= also= flags= shared= repeats= takes=()
${body(choice('${path%% *}', [...rootNode, ...nodes], ''))}
  [[ -n $shared ]] || flags="$flags "${quoted(shared.flatMap(({ names }) => names).join(' '))}
}

# What the flag $1 takes at the place "path"; fails for a switch. "=" stands before what may be
# left out.
__gpucloud_value() {
${body(choice('$1', flagBranches(values), 'return 1'))}
}
`;
}

function placeLine(place: Model['places'][number]): string {
  const parts = [
    ['verbs', place.below.map(({ name }) => name).join(' ')],
    ['also', place.aliases.map(({ name }) => name).join(' ')],
    ['flags', place.flags.flatMap(({ names }) => names).join(' ')],
    ['shared', place.shares ? '' : 'no'],
  ].flatMap(([name, text]) => (text === '' ? [] : [`${name}=${word(text ?? '')}`]));
  const takes = place.takes.length === 0 ? [] : [`takes=(${place.takes.map(word).join(' ')})`];
  return [...parts, ...takes, ...(place.repeats ? ['repeats=1'] : [])].join(' ');
}

/** What each flag takes, by the flag: those that are the same everywhere are the likeliest. */
function flagBranches(values: Model['values']): string[] {
  const flags = new Map<string, { everywhere?: string; at: { path: string; offer: string }[] }>();
  for (const { keys, offer } of values) {
    for (const key of keys) {
      const [path = '', flag = ''] = key.split(':');
      const known = flags.get(flag) ?? { at: [] };
      flags.set(
        flag,
        path === '*'
          ? { ...known, everywhere: offer }
          : { ...known, at: [...known.at, { path, offer }] },
      );
    }
  }
  const assigned = (offer: string) => `offer=${word(offer)}`;
  return [...flags]
    .sort(
      ([, one], [, other]) =>
        Number(one.everywhere === undefined) - Number(other.everywhere === undefined),
    )
    .map(([flag, { everywhere, at }]) => {
      const otherwise = everywhere === undefined ? 'return 1' : assigned(everywhere);
      if (at.length === 0) return `${flag}) ${otherwise} ;;`;
      const offers = [...new Set(at.map(({ offer }) => offer))];
      const branches = offers.map((offer) => {
        const paths = at.filter((one) => one.offer === offer).map(({ path }) => word(path));
        return `${paths.join('|')}) ${assigned(offer)} ;;`;
      });
      return `${flag})\n${indented(choice('$path', branches, otherwise))} ;;`;
    });
}

const ENGINE = `# The cache folder, by the rules of gpucloud itself.
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

# Offers the names of the kind $1 that begin with "cur". Whole arrays are cut at once where that
# can be: a loop in bash costs more than all the rest.
__gpucloud_names() {
  local folder line name tab=$'\\t' plain=$cur open= slot=
  local -a lines fitting
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
  else
    slot=\${profile:-\${GPUCLOUD_PROFILE-}}
    if [[ -z $slot ]]; then
      if __gpucloud_lines "$folder/profiles.tsv" && [[ \${lines[0]} == *"$tab"current ]]; then
        line=\${lines[0]#*$tab}
        slot=\${line%%$tab*}
      fi
      [[ $slot != sandbox || -z $address\${GPUCLOUD_BASE_URL-} ]] || slot=-env
    fi
    if [[ $slot != sandbox && -n $address\${GPUCLOUD_BASE_URL-}\${GPUCLOUD_API_KEY-} ]]; then
      slot=-env
    fi
    [[ -n $slot && $slot != */* ]] || return
    __gpucloud_lines "$folder/names/$slot/$1.tsv" || return
  fi
  if [[ -z $plain ]]; then
    fitting=("\${lines[@]#*$tab}")
  else
    fitting=()
    for line in "\${lines[@]}"; do
      [[ $line != "$1$tab$plain"* ]] || fitting+=("\${line#*$tab}")
    done
    # No name fits: it may be the beginning of an id.
    if [[ -z \${fitting+set} ]]; then
      for line in "\${lines[@]#*$tab*$tab}"; do
        [[ $line != "$plain"* ]] || fitting+=("$line")
      done
    fi
    [[ -n \${fitting+set} ]] || return
  fi
  fitting=("\${fitting[@]%%$tab*}")
  # Plain words are what quotes would leave as it is: all are tried at once.
  IFS=:
  line=":\${fitting[*]}"
  printf -v name %q "$line"
  if [[ -n $open || $name != "$line" || $line == *:[#~-]* ]]; then
    for name in "\${fitting[@]}"; do __gpucloud_odd "$name"; done
  elif [[ $used == / ]]; then
    COMPREPLY+=("\${fitting[@]/#/$prefix}")
  else
    # What is there already is not offered again.
    line=$line:
    for name in "\${typed[@]}"; do line=\${line/":$name:"/:}; done
    fitting=(\${line#:})
    [[ -z \${fitting+set} ]] || COMPREPLY+=("\${fitting[@]/#/$prefix}")
  fi
  IFS=$' \\t\\n'
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
  local used=/ verbs also flags shared repeats
  local line=\${COMP_LINE:0:COMP_POINT} word lead whole part i n=0 count=0
  local -a words takes typed
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
          used=$used$word/ typed+=("$word")
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
