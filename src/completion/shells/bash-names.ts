import { OWNER } from './bash-and-zsh.ts';

/** The part of the bash script that finds names in the cache. */
export const NAMES = `# Finds the value of the flag $1 at "path", in "offer"; fails for a switch.
__gpucloud_value() {
  __gpucloud_at_$path "$1" || __gpucloud_everywhere "$1"
}

${OWNER}
# Offers the names of the kind $1 that begin with "cur". The first line of a file holds all of its
# names: work on each of a hundred lines costs more than everything else.
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
  file=$folder/completion/profiles.tsv
  if [[ $1 != profile ]]; then
    __gpucloud_slot || return
    file=$folder/completion/names/$slot/$1.tsv
  fi
  [[ -f $file && -r $file ]] || return
  if [[ $1 == profile ]]; then
    IFS=$'\\n' read -r -d '' -a lines < "$file"
    [[ -n \${lines+set} ]] || return
    fitting=("\${lines[@]#*$tab}")
    fitting=("\${fitting[@]%%$tab*}")
  else
    IFS=$tab read -r -a fitting < "$file"
    # A file without that first line has another version.
    [[ \${fitting-} != "$1" ]] || return
  fi
  if [[ -n $plain && -n \${fitting+set} ]]; then
    all=()
    for name in "\${fitting[@]}"; do
      [[ $name != "$plain"* ]] || all[\${#all[@]}]=$name
    done
    fitting=(\${all[@]+"\${all[@]}"})
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
      # Do not offer earlier arguments again.
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

# Offers the name $1, quoted as one plain word.
__gpucloud_odd() {
  local word=$1
  case $open in
    \\") [[ $word != *[\\"\\\\\\\`\\$\\!]* ]] || return ;;
    \\') [[ $word != *\\'* ]] || return ;;
    *) printf -v word %q "$word" ;;
  esac
  [[ $used == *"/$word/"* ]] || COMPREPLY[\${#COMPREPLY[@]}]=$prefix$word
}
`;
