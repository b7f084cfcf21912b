/** Reads the tables and completes a word in fish. */
export const ENGINE = `# Finds the cache folder, by gpucloud's own rules.
function __gpucloud_folder
    if test -n "$GPUCLOUD_STATE_DIR"
        string match -q '/*' -- "$GPUCLOUD_STATE_DIR"; and echo "$GPUCLOUD_STATE_DIR/cache"
    else if string match -q '/*' -- "$XDG_CACHE_HOME"; and not test -d "$HOME/Library/Caches"
        echo "$XDG_CACHE_HOME/gpucloud"
    else if test -d "$HOME/Library/Caches"
        echo "$HOME/Library/Caches/gpucloud"
    else
        echo "$HOME/.cache/gpucloud"
    end
end

# The file with names of the kind for this command line.
function __gpucloud_file -a kind profile address
    set -l folder (__gpucloud_folder)
    test -n "$folder"; or return 1
    set -l profiles "$folder/completion/profiles.tsv"
    if test "$kind" = profile
        echo $profiles
        return
    end
    set -l slot $profile
    test -n "$slot"; or set slot $GPUCLOUD_PROFILE
    if test -z "$slot"
        if test -f $profiles -a -r $profiles
            set -l first
            read first < $profiles
            set -l parts (string split \\t -- $first)
            test "$parts[4]" = current; and set slot $parts[2]
        end
        test "$slot" = sandbox -a -n "$address$GPUCLOUD_BASE_URL"; and set slot -env
    end
    if test "$slot" != sandbox -a -n "$address$GPUCLOUD_BASE_URL$GPUCLOUD_API_KEY"
        set slot -env
    end
    test -n "$slot"; and not string match -q '*/*' -- "$slot"; or return 1
    echo "$folder/completion/names/$slot/$kind.tsv"
end

# Names of the kind with their states.
function __gpucloud_names -a kind profile address before
    set -l file (__gpucloud_file $kind "$profile" "$address")
    test -n "$file" -a -f "$file" -a -r "$file"; or return
    while read -l line
        set -l parts (string split \\t -- $line)
        # The first line holds all names, for bash.
        test (count $parts) -eq 4; and test -n "$parts[1]"; or continue
        contains -- "$parts[2]" $argv[5..-1]; and continue
        set -l state $parts[4]
        test "$state" != -; or set state $kind
        printf '%s%s\\t%s\\n' "$before" "$parts[2]" "$state"
    end < $file
end

# Describes the cursor in lines: the offer, the place, the profile, whether there is an address,
# the part of the word that stays, and the earlier arguments.
function __gpucloud_slot
    set -l tokens (commandline -opc)
    set -l word (commandline -ct)
    set -l place ''
    set -l profile ''
    set -l address ''
    set -l pending ''
    set -l literal ''
    set -l helping ''
    set -l count 0
    set -l used
    for token in $tokens[2..-1]
        if test -n "$pending"
            test "$pending" = --profile; and set profile $token
            test "$pending" = --base-url; and set address 1
            set pending ''
            continue
        end
        switch "$literal$token"
            case --
                set literal 1
            case '--profile=*'
                set profile (string replace -- '--profile=' '' $token)
            case '--base-url=*'
                set address 1
            case '--*=*'
            case '-*'
                set -l offer (__gpucloud_value "$place" "$token")
                and not string match -q '=*' -- "$offer"
                and set pending $token
            case '*'
                set -l next
                if test -z "$literal"; and set next (__gpucloud_step "$place" "$token")
                    set place "$next"
                    if test "$place" = help
                        set place ''
                        set helping 1
                    end
                else
                    set count (math $count + 1)
                    set -a used $token
                end
        end
    end

    set -l offer free
    set -l before ''
    if test -n "$pending"
        set offer (__gpucloud_value "$place" "$pending")
    else if test -z "$literal"; and string match -q -- '--*=*' "$word"
        set -l flag (string split -m 1 = -- "$word")[1]
        set before "$flag="
        set offer (__gpucloud_value "$place" "$flag" | string replace -r '^=' '')
        test -n "$offer"; or set offer free
    else if test -z "$literal"; and string match -q -- '-*' "$word"
        set offer flags
    else if test -n "$(__gpucloud_verbs "$place")"
        set offer verbs
        test -n "$helping" -a -z "$place"; and set offer 'verbs topics'
    else if test -z "$helping"
        set -l takes (__gpucloud_takes "$place")
        if test $count -lt (count $takes)
            set offer (string replace -r '^\\+' '' -- $takes[(math $count + 1)])
        else if string match -q '+*' -- "$takes[-1]"
            set offer (string replace -r '^\\+' '' -- $takes[-1])
        end
    end
    printf '%s\\n' "$offer" "$place" "$profile" "$address" "$before" $used
end

function __gpucloud_wants_file
    switch "$(__gpucloud_slot)[1]"
        case file
            true
        case path
            not string match -q -r -- '^[^/]*:' (commandline -ct)
        case '*'
            false
    end
end

function __gpucloud_complete
    set -l slot (__gpucloud_slot)
    set -l place $slot[2]
    set -l before $slot[5]
    set -l word (string sub -s (math (string length -- "$before") + 1) -- (commandline -ct))
    set -l words (string split ' ' -- $slot[1])
    set -l kind $words[1]
    set -e words[1]
    switch $kind
        case verbs
            __gpucloud_verbs "$place"
            test "$words" = topics; and __gpucloud_topics
        case flags
            __gpucloud_flags "$place"
        case names
            for one in $words
                __gpucloud_names $one "$slot[3]" "$slot[4]" "$before" $slot[6..-1]
            end
        case path
            # An instance with a colon; files come by themselves. Before a colon none of ":/@" is read
            # as a name, and what follows it, only the instance knows.
            if not string match -q -r -- '^[^/]*:' "$word"
                __gpucloud_names instance "$slot[3]" "$slot[4]" "$before" $slot[6..-1] |
                    string match -r -v '^[^\\t]*[:/@]' | string replace \\t :\\t
            end
        case words
            printf '%s\\n' $before$words
        case list
            set -l given (string split , -- "$word")
            set -e given[-1]
            set -l start $before(string join '' -- $given,)
            for one in $words
                contains -- $one $given; or echo "$start$one"
            end
    end
end

complete -c gpucloud -e
complete -c gpucloud -f -a '(__gpucloud_complete)'
complete -c gpucloud -n __gpucloud_wants_file -F
`;
