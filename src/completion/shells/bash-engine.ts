import { WORD } from './quote.ts';

/** Reads the tables and completes a word in bash. */
export const ENGINE = `# Offers the words of $@ that begin with "cur".
__gpucloud_words() {
  local word all
  if ((\${#cur} < 3)); then
    for word; do
      [[ $word != "$cur"* ]] || COMPREPLY[\${#COMPREPLY[@]}]=$prefix$word
    done
  else
    # Going from hit to hit is faster than from word to word.
    all=" $*"
    while [[ $all == *" $cur"* ]]; do
      all=\${all#*" $cur"}
      COMPREPLY[\${#COMPREPLY[@]}]=$prefix$cur\${all%% *}
    done
  fi
}

# Turns the offered names into the start of a path on an instance: "trainer:".
__gpucloud_hosts() {
  local name
  local -a names=(\${COMPREPLY[@]+"\${COMPREPLY[@]}"})
  COMPREPLY=()
  for name in \${names[@]+"\${names[@]}"}; do
    # No path begins with these: scp would misread them.
    [[ $name == *[:/@]* ]] || COMPREPLY[\${#COMPREPLY[@]}]=$name:
  done
}

# Offers files. If something else is offered too, readline can't tell which words are files. $1
# follows those that are not folders.
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
    words) __gpucloud_words \${1#* } ;;
    # Offers nothing, so readline takes over: it completes file names best.
    file) __gpucloud_compopt -o default -o filenames ;;
    # An instance with a colon, or a file; only the instance knows the paths after the colon.
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
    list)
      __gpucloud_compopt -o nospace
      given=,
      [[ $cur != *,* ]] || { given=,\${cur%,*}, prefix=$prefix\${cur%,*}, cur=\${cur##*,}; }
      for word in \${1#* }; do
        [[ $given == *",$word,"* ]] || __gpucloud_words "$word"
      done ;;
  esac
}

# Bash has cut the line at "=" and ":" too; joins the parts that have no space between them.
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

_gpucloud() {
  local IFS=$' \\t\\n' path= offer= cur= prefix= profile= address= pending= literal= helping=
  local used=/ verbs= flags= repeats= line=\${COMP_LINE:0:COMP_POINT}
  local word=\${COMP_WORDS[COMP_CWORD]} part whole lead i n=$((COMP_CWORD + 1)) count=0
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
${WORD}
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
  else
    __gpucloud_at_$path ' '
    if [[ -z $literal && $cur == -* ]]; then
      __gpucloud_everywhere ' '
      offer="words $flags"
    elif [[ -n $verbs ]]; then
      __gpucloud_words $verbs
      [[ -z $helping || -n $path ]] || __gpucloud_words $helping
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
