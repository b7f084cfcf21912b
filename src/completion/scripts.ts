import { COMPLETE, type Shell } from './index.ts';

/** First comment of every script, old and new: identifies an installed script of gpucloud. */
export const HEAD = 'Written by "gpucloud completion": do not edit.';

/**
 * Each script asks gpucloud at every Tab, so it never becomes stale. The first line of the response
 * has letters: `f` for files too, `n` for no blank after a value, `c` for a comma, `r` for values
 * that replace the typed word. In zsh and fish, the part of the word that stays before each value
 * follows. After `--`, Node reads no `--env-file`.
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  // Supports bash 3.2, which macOS still has. Bash splits words at "=" and ":", so gpucloud gets
  // the line as typed. $2 is the part that bash replaces.
  bash: `# bash completion for gpucloud
# ${HEAD}
_gpucloud() {
  local answer how line
  COMPREPLY=()
  answer=$(command gpucloud ${COMPLETE} bash "\${COMP_LINE:0:COMP_POINT}" "\${2-}" 2> /dev/null) ||
    return 0
  {
    IFS= read -r how || :
    while IFS= read -r line; do COMPREPLY[\${#COMPREPLY[@]}]=$line; done
  } <<< "$answer"
  [[ $how != *n* ]] || __gpucloud_compopt -o nospace
  if [[ $how != *f* ]]; then
    :
  elif [[ -z \${COMPREPLY+set} ]]; then
    # Readline completes files best.
    __gpucloud_compopt -o default -o filenames
  else
    while IFS= read -r line; do
      [[ -n $line ]] || continue
      if [[ -d $line ]]; then how=/; else how=' '; fi
      printf -v line %q "$line"
      COMPREPLY[\${#COMPREPLY[@]}]=$line$how
    done <<< "$(compgen -f -- "\${2-}")"
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
`,
  zsh: `#compdef gpucloud
# zsh completion for gpucloud
# ${HEAD}
_gpucloud() {
  local how none=0
  local -a lines after
  lines=("\${(@f)$(command gpucloud ${COMPLETE} zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2> /dev/null)}")
  how=\${lines[1]%% *}
  compset -p \${#\${lines[1]#$how }}
  lines[1]=()
  [[ $how != *n* ]] || after=(-S '')
  [[ $how != *c* ]] || after=(-qS ,)
  [[ $how != *r* ]] || after+=(-U -i "$IPREFIX")
  _describe -t values value lines "\${(@)after}" || none=1
  [[ $how != *f* ]] || ! _files || none=0
  return none
}

# From a folder of fpath, this file is the function itself; sourced, it registers the function.
if [[ $funcstack[1] == _gpucloud ]]; then
  _gpucloud "$@"
else
  compdef _gpucloud gpucloud
fi
`,
  fish: `# fish completion for gpucloud
# ${HEAD}
function __gpucloud_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l lines (command gpucloud ${COMPLETE} fish -- $words[2..-1] "$word" 2>/dev/null)
    set -l how (string split -m 1 ' ' -- "$lines[1]")
    if string match -q '*f*' -- "$how[1]"
        set -l files (__fish_complete_path (string sub -s (math (string length -- "$how[2]") + 1) -- "$word"))
        string join \\n -- "$how[2]"$files
    end
    string join \\n -- $lines[2..-1]
end

complete -c gpucloud -e
complete -c gpucloud -f -a '(__gpucloud_complete)'
`,
  // An argument with double quotes, or an empty one, does not reach a program from every version.
  powershell: `# PowerShell completion for gpucloud
# ${HEAD}
Register-ArgumentCompleter -Native -CommandName gpucloud -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    $line = $commandAst.Extent.Text.PadRight($length).Substring(0, $length).Replace('"', "'") + '|'
    $program = @(Get-Command gpucloud -CommandType Application -ErrorAction SilentlyContinue)[0]
    if (-not $program) { return }
    & $program ${COMPLETE} powershell $line 2> $null | ForEach-Object {
        $value, $help = $_ -split ([char] 9), 2
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
`,
};
