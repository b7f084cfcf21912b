import { OWNER, WORD } from './quote.ts';

/** Reads the tables and completes a word in zsh. */
export const ENGINE = `${OWNER}
# The lines of the file $1, in "lines". Zsh reads it itself, without a process.
__gpucloud_lines() {
  lines=()
  [[ -f $1 && -r $1 ]] || return 1
  lines=("\${(@f)$(<$1)}")
}

# Offers the names of the kind $1 with $2 after them.
__gpucloud_names() {
  local kind=$1 tab=$'\\t' folder slot line
  local -a lines parts names after
  [[ -z \${2-} ]] || after=(-S $2)
  __gpucloud_folder
  [[ -n $folder ]] || return 1
  if [[ $kind == profile ]]; then
    __gpucloud_lines $folder/completion/profiles.tsv
  else
    __gpucloud_slot || return 1
    __gpucloud_lines $folder/completion/names/$slot/$kind.tsv
  fi
  for line in $lines; do
    parts=("\${(@ps:\\t:)line}")
    # The first line holds all names, for bash.
    [[ -n $parts[1] && -n $parts[2] ]] || continue
    # Do not offer earlier arguments again.
    (( ! \${used[(Ie)$parts[2]]} )) || continue
    # Before a colon, none of these is a name.
    [[ -z $after || $parts[2] != *[:/@]* ]] || continue
    names+=("\${\${parts[2]//\\\\/\\\\\\\\}//:/\\\\:}:\${\${parts[4]:#-}:-$kind}")
  done
  _describe -t $kind $kind names $after
}

__gpucloud_offer() {
  local kind=\${1%% *}
  local -a list given
  case $kind in
    names) for kind in \${=1#* }; do __gpucloud_names $kind; done ;;
    words)
      list=(\${=1#* })
      _describe -t values value list ;;
    list)
      given=(\${(s:,:)PREFIX})
      [[ $PREFIX == *, ]] || given=(\${given[1,-2]})
      compset -P '*,'
      list=(\${\${=1#* }:|given})
      _describe -t values value list -qS , ;;
    file) _files ;;
    # An instance with a colon, or a file; only the instance knows the paths after the colon.
    path)
      [[ \${PREFIX%%/*} != *:* ]] || return 1
      __gpucloud_names instance :
      given=($?)
      _files || return $given ;;
  esac
}

_gpucloud() {
  local place offer profile address pending literal repeats word
  local -a verbs flags takes used helping
  integer at count=0

  for ((at = 2; at < CURRENT; at++)); do
    word=\${(Q)words[at]}
${WORD}
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
  else
    __gpucloud_place
    if [[ -z $literal && $PREFIX == -* ]]; then
      _describe -o -t options option flags
    elif (( $#verbs )); then
      [[ -n $place ]] || verbs+=($helping)
      _describe -t commands command verbs
    elif (( $#helping )); then
      return 1
    elif (( count < $#takes )); then
      __gpucloud_offer "$takes[count + 1]"
    elif [[ -n $repeats ]]; then
      __gpucloud_offer "$takes[-1]"
    fi
  fi
}

# From a folder of fpath, this file is the function itself; sourced, it registers the function.
if [[ $funcstack[1] == _gpucloud ]]; then
  _gpucloud "$@"
else
  compdef _gpucloud gpucloud
fi
`;
