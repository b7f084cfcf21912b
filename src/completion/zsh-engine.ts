/** The part of the zsh script that reads the tables and completes a word. */
export const ENGINE = `# The file of names for this command line, by the rules of gpucloud itself.
__gpucloud_folder() {
  local base
  folder=
  if [[ -n \${GPUCLOUD_STATE_DIR-} ]]; then
    [[ $GPUCLOUD_STATE_DIR != /* ]] || folder=$GPUCLOUD_STATE_DIR/cache
    return
  fi
  if [[ $OSTYPE == darwin* ]]; then
    base=\${HOME-}/Library/Caches
  else
    base=\${XDG_CACHE_HOME-}
    [[ $base == /* ]] || base=\${HOME-}/.cache
  fi
  [[ $base != /* ]] || folder=$base/gpucloud
}

# The lines of the file $1, in "lines". Zsh reads it itself, without a process.
__gpucloud_lines() {
  lines=()
  [[ -f $1 && -r $1 ]] || return 1
  lines=("\${(@f)$(<$1)}")
}

# Whose names they are, in "slot", by the rules of gpucloud itself.
__gpucloud_slot() {
  slot=\${profile:-\${GPUCLOUD_PROFILE-}}
  if [[ -z $slot ]]; then
    __gpucloud_lines $folder/completion/profiles.tsv
    [[ \${lines[1]-} != profile*current ]] || slot=\${\${lines[1]#*$tab}%%$tab*}
    [[ $slot != sandbox || -z $address\${GPUCLOUD_BASE_URL-} ]] || slot=-env
  fi
  if [[ $slot != sandbox && -n $address\${GPUCLOUD_BASE_URL-}\${GPUCLOUD_API_KEY-} ]]; then
    slot=-env
  fi
  [[ -n $slot && $slot != */* ]]
}

# Offers the names of the kind $1 with $2 after them, and ids where no name fits.
__gpucloud_names() {
  local kind=\${1#terminated-} what=$1 tab=$'\\t' folder slot line
  local -a lines parts names ids after
  [[ -z \${2-} ]] || after=(-S $2)
  __gpucloud_folder
  [[ -n $folder ]] || return 1
  if [[ $kind == profile ]]; then
    __gpucloud_lines $folder/completion/profiles.tsv
  else
    __gpucloud_slot || return 1
    __gpucloud_lines $folder/completion/names/$slot/$what.tsv
  fi
  for line in $lines; do
    parts=("\${(@ps:\\t:)line}")
    # The first line holds all names, for bash.
    [[ -n $parts[1] && -n $parts[2] ]] || continue
    # What is there already is not offered again.
    (( ! \${used[(Ie)$parts[2]]} )) || continue
    # Before a colon none of these is read as a name.
    [[ -z $after || $parts[2] != *[:/@]* ]] || continue
    names+=("\${\${parts[2]//\\\\/\\\\\\\\}//:/\\\\:}:\${\${parts[4]:#-}:-$kind}")
    [[ $parts[3] == - ]] || ids+=("\${\${parts[3]//\\\\/\\\\\\\\}//:/\\\\:}:$parts[2] \${parts[4]:#-}")
  done
  _describe -t $what $kind names $after && return
  [[ -n $PREFIX ]] && _describe -t $what "$kind id" ids $after
}

# Offers what the machine in the first argument has of the kind $1: its endpoints or secrets.
__gpucloud_parts() {
  local kind=$1 tab=$'\\t' folder slot line
  local -a lines parts names
  __gpucloud_folder
  [[ -n $folder && -n $used[1] ]] && __gpucloud_slot || return 1
  __gpucloud_lines $folder/completion/names/$slot/$kind.tsv
  for line in $lines; do
    parts=("\${(@ps:\\t:)line}")
    [[ $parts[3] == $used[1] || $parts[4] == $used[1] ]] || continue
    names+=("\${\${parts[2]//\\\\/\\\\\\\\}//:/\\\\:}:$kind")
  done
  _describe -t $kind $kind names
}

__gpucloud_offer() {
  local kind=\${1%% *}
  local -a list given
  case $kind in
    names) for kind in \${=1#* }; do __gpucloud_names $kind; done ;;
    part) __gpucloud_parts \${1#* } ;;
    field)
      compset -P '*@' && _files ;;
    words)
      list=(\${=1#* })
      _describe -t values value list ;;
    list)
      given=(\${(s:,:)PREFIX})
      [[ $PREFIX == *, ]] || given=(\${given[1,-2]})
      compset -P '*,'
      list=(\${\${=1#* }:|given})
      _describe -t values value list -qS , ;;
    sort)
      compset -P -
      list=(\${=1#* })
      _describe -t values column list ;;
    port)
      if compset -P '*,'; then
        list=(name= main)
        _describe -t values option list -S ''
      elif [[ $PREFIX == *:*/* ]]; then
        compset -P '*/'
        list=(tcp udp)
        _describe -t values protocol list -S ''
      fi ;;
    file) _files ;;
    # A machine with a colon, or a file; what follows the colon, only the machine knows.
    path)
      [[ \${PREFIX%%/*} != *:* ]] || return 1
      __gpucloud_names instance :
      given=($?)
      _files || return $given ;;
  esac
}

# Short flags in one word: -qo is -q -o, and -ojson is -o json. Says in "end" where the value begins
# of the one that takes something; fails when none does.
__gpucloud_cluster() {
  for (( end = 2; end <= $#1; end++ )); do
    if __gpucloud_value -\${1[end]} && [[ $offer != '='* ]]; then return 0; fi
  done
  return 1
}

_gpucloud() {
  local place offer profile address pending literal shared repeats word
  local -a verbs also flags takes used helping
  integer at end count=0

  for ((at = 2; at < CURRENT; at++)); do
    word=\${(Q)words[at]}
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
        if __gpucloud_value $word && [[ $offer != '='* ]]; then pending=$word; fi ;;
      -?*)
        if __gpucloud_cluster $word && (( end == $#word )); then pending=-\${word[end]}; fi ;;
      *)
        if [[ -n $literal ]] || ! __gpucloud_step $word; then
          (( ++count ))
          used+=($word)
        fi ;;
    esac
  done

  offer=
  if [[ -n $pending ]]; then
    __gpucloud_value $pending
    __gpucloud_offer "$offer"
  elif [[ -z $literal && $PREFIX == --*=* ]]; then
    __gpucloud_value \${PREFIX%%=*} || return 1
    compset -P '--[^=]##='
    __gpucloud_offer "\${offer#=}"
  elif [[ -z $literal && $PREFIX == -[^-]?* ]]; then
    if __gpucloud_cluster $PREFIX && (( end < $#PREFIX )); then
      compset -p $end
      __gpucloud_offer "$offer"
    else
      # All is said: another Tab puts the blank.
      compadd -- $PREFIX
    fi
  else
    __gpucloud_place
    if [[ -z $literal && $PREFIX == -* ]]; then
      _describe -o -t options option flags
    elif (( $#verbs )); then
      [[ -n $place ]] || verbs+=($helping)
      _describe -t commands command verbs || _describe -t commands command also
    elif (( $#helping )); then
      return 1
    elif (( count < $#takes )); then
      __gpucloud_offer "$takes[count + 1]"
    elif [[ -n $repeats ]]; then
      __gpucloud_offer "$takes[-1]"
    fi
  fi
}

# Loaded from a folder of fpath, this file is the function itself; sourced, it tells who completes.
if [[ $funcstack[1] == _gpucloud ]]; then
  _gpucloud "$@"
else
  compdef _gpucloud gpucloud
fi
`;
