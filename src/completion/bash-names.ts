/** The part of the bash script that finds names in the cache. */
export const NAMES = `# Finds the value of the flag $1 at "path", in "offer"; fails for a switch.
__gpucloud_value() {
  __gpucloud_at_$path "$1" || __gpucloud_everywhere "$1"
}

# Finds the cache folder, by gpucloud's own rules.
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

# Reads the lines of the file $1 into "lines"; fails if there are none.
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

# Finds the owner of the names, in "slot", by gpucloud's own rules.
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
