# fish completion for gpucloud
# Written by "gpucloud completion": do not edit.
function __gpucloud_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l lines (command gpucloud __complete fish -- $words[2..-1] "$word" 2>/dev/null)
    set -l how (string split -m 1 ' ' -- "$lines[1]")
    if string match -q '*f*' -- "$how[1]"
        set -l files (__fish_complete_path (string sub -s (math (string length -- "$how[2]") + 1) -- "$word"))
        string join \n -- "$how[2]"$files
    end
    string join \n -- $lines[2..-1]
end

complete -c gpucloud -e
complete -c gpucloud -f -a '(__gpucloud_complete)'
