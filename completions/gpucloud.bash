# bash completion for gpucloud
# Written by "gpucloud completion": do not edit.
_gpucloud() {
  local answer how line
  COMPREPLY=()
  answer=$(command gpucloud __complete bash "${COMP_LINE:0:COMP_POINT}" "${2-}" 2> /dev/null) ||
    return 0
  {
    IFS= read -r how || :
    while IFS= read -r line; do COMPREPLY[${#COMPREPLY[@]}]=$line; done
  } <<< "$answer"
  [[ $how != *n* ]] || __gpucloud_compopt -o nospace
  if [[ $how != *f* ]]; then
    :
  elif [[ -z ${COMPREPLY+set} ]]; then
    # Readline completes files best.
    __gpucloud_compopt -o default -o filenames
  else
    while IFS= read -r line; do
      [[ -n $line ]] || continue
      if [[ -d $line ]]; then how=/; else how=' '; fi
      printf -v line %q "$line"
      COMPREPLY[${#COMPREPLY[@]}]=$line$how
    done <<< "$(compgen -f -- "${2-}")"
  fi
}

__gpucloud_compopt() {
  ((BASH_VERSINFO[0] < 4)) || compopt "$@" 2> /dev/null || :
}

if ((BASH_VERSINFO[0] >= 4)); then
  complete -F _gpucloud gpucloud
else
  complete -o default -F _gpucloud gpucloud
fi
