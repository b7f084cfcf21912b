# bash completion for gpucloud
# Written by "gpucloud completion": do not edit.
# Names come from files that gpucloud keeps in its cache folder: Tab starts no process, asks no
# service, and runs nothing of what it reads.

# Goes from the place "path" on by the word $1.
__gpucloud_step() {
  case $path:$1 in
    ':instances'|':instance') path='instances' ;;
    ':catalog') path='catalog' ;;
    ':drives'|':drive') path='drives' ;;
    ':ssh-keys'|':ssh-key') path='ssh-keys' ;;
    ':api-keys'|':api-key') path='api-keys' ;;
    ':templates'|':template') path='templates' ;;
    ':me') path='me' ;;
    ':billing') path='billing' ;;
    ':login') path='login' ;;
    ':logout') path='logout' ;;
    ':profiles'|':profile') path='profiles' ;;
    ':sandbox') path='sandbox' ;;
    ':doctor') path='doctor' ;;
    ':help') path= helping=1 ;;
    ':commands') path='commands' ;;
    ':api') path='api' ;;
    ':completion') path='completion' ;;
    'instances:list'|'instances:ls') path='instances list' ;;
    'instances:get'|'instances:show') path='instances get' ;;
    'instances:create') path='instances create' ;;
    'instances:reorder') path='instances reorder' ;;
    'instances:start') path='instances start' ;;
    'instances:stop') path='instances stop' ;;
    'instances:terminate'|'instances:rm') path='instances terminate' ;;
    'instances:events') path='instances events' ;;
    'instances:wait') path='instances wait' ;;
    'instances:endpoints') path='instances endpoints' ;;
    'instances:secrets') path='instances secrets' ;;
    'instances:open') path='instances open' ;;
    'instances:recover') path='instances recover' ;;
    'instances:track') path='instances track' ;;
    'instances:untrack') path='instances untrack' ;;
    'instances:export') path='instances export' ;;
    'instances:import') path='instances import' ;;
    'catalog:list'|'catalog:ls') path='catalog list' ;;
    'catalog:add') path='catalog add' ;;
    'catalog:remove'|'catalog:rm') path='catalog remove' ;;
    'drives:list'|'drives:ls') path='drives list' ;;
    'drives:get'|'drives:show') path='drives get' ;;
    'drives:create') path='drives create' ;;
    'drives:update') path='drives update' ;;
    'drives:resume') path='drives resume' ;;
    'ssh-keys:list'|'ssh-keys:ls') path='ssh-keys list' ;;
    'ssh-keys:get'|'ssh-keys:show') path='ssh-keys get' ;;
    'ssh-keys:add'|'ssh-keys:create') path='ssh-keys add' ;;
    'ssh-keys:delete'|'ssh-keys:rm') path='ssh-keys delete' ;;
    'api-keys:list'|'api-keys:ls') path='api-keys list' ;;
    'api-keys:create') path='api-keys create' ;;
    'templates:list'|'templates:ls') path='templates list' ;;
    'templates:get'|'templates:show') path='templates get' ;;
    'me:get'|'me:show') path='me get' ;;
    'me:update') path='me update' ;;
    'me:set-password') path='me set-password' ;;
    'billing:balance') path='billing balance' ;;
    'billing:transactions') path='billing transactions' ;;
    'billing:promo') path='billing promo' ;;
    'profiles:list'|'profiles:ls') path='profiles list' ;;
    'profiles:get'|'profiles:show') path='profiles get' ;;
    'profiles:use') path='profiles use' ;;
    'profiles:add') path='profiles add' ;;
    'profiles:remove'|'profiles:rm') path='profiles remove' ;;
    'sandbox:catalog') path='sandbox catalog' ;;
    'sandbox:status') path='sandbox status' ;;
    'sandbox:advance') path='sandbox advance' ;;
    'sandbox:deposit') path='sandbox deposit' ;;
    'sandbox:fault') path='sandbox fault' ;;
    'sandbox:reset') path='sandbox reset' ;;
    'sandbox:serve') path='sandbox serve' ;;
    *) return 1 ;;
  esac
}

# What there is at the place "path".
__gpucloud_place() {
  verbs= also= flags= shared= repeats= takes=()
  case $path in
    '') verbs='instances catalog drives ssh-keys api-keys templates me billing login logout profiles sandbox doctor help commands api completion' also='instance drive ssh-key api-key template profile' flags='--version -V' ;;
    'instances') verbs='list get create reorder start stop terminate events wait endpoints secrets open recover track untrack export import' also='ls show rm' ;;
    'instances list') flags='--all -a' ;;
    'instances get') takes=('names instance') ;;
    'instances create') flags='--name --offer --image --ssh-key --template --drive --docker-image --docker-command --shm-size --port -p --env -e --env-file --any-env-key --volume -v --file -f --max-price --dry-run --schema --wait --wait-timeout --poll-interval' takes=('free') ;;
    'instances reorder') flags='--name --any-name --wait --wait-timeout --poll-interval' takes=('names terminated-instance' 'free') ;;
    'instances start') flags='--wait --wait-timeout --poll-interval' takes=('names instance') repeats=1 ;;
    'instances stop') flags='--wait --wait-timeout --poll-interval' takes=('names instance') repeats=1 ;;
    'instances terminate') flags='--wait --wait-timeout --poll-interval' takes=('names instance') repeats=1 ;;
    'instances events') flags='--page --limit --all' takes=('names instance') ;;
    'instances wait') flags='--profile --base-url --output -o --json --quiet -q --columns --sort --query --no-header --color --no-color --no-input --yes -y --debug --show-secrets --for --timeout --poll-interval --help -h' shared='no' takes=('names instance') repeats=1 ;;
    'instances endpoints') takes=('names instance') ;;
    'instances secrets') takes=('names instance' 'free') ;;
    'instances open') flags='--print' takes=('names instance' 'free') ;;
    'instances recover') flags='--retry' takes=('free') repeats=1 ;;
    'instances track') flags='--force' takes=('free') repeats=1 ;;
    'instances untrack') takes=('names instance') repeats=1 ;;
    'instances export')  ;;
    'instances import') takes=('file') ;;
    'catalog') verbs='list add remove' also='ls rm' ;;
    'catalog list') flags='--kind' ;;
    'catalog add') flags='--name' takes=('words offer image' 'free') ;;
    'catalog remove') takes=('names offer image') ;;
    'drives') verbs='list get create update resume' also='ls show' ;;
    'drives list')  ;;
    'drives get') takes=('names drive') ;;
    'drives create') flags='--name --size' takes=('free') ;;
    'drives update') flags='--name --size' takes=('names drive') ;;
    'drives resume') takes=('names drive') ;;
    'ssh-keys') verbs='list get add delete' also='ls show create rm' ;;
    'ssh-keys list')  ;;
    'ssh-keys get') takes=('names ssh-key') ;;
    'ssh-keys add') flags='--name --default' takes=('file') ;;
    'ssh-keys delete') takes=('names ssh-key') repeats=1 ;;
    'api-keys') verbs='list create' also='ls' ;;
    'api-keys list')  ;;
    'api-keys create') flags='--key-file --save-profile' takes=('free') ;;
    'templates') verbs='list get' also='ls show' ;;
    'templates list')  ;;
    'templates get') flags='--markdown' takes=('names template') ;;
    'me') verbs='get update set-password' also='show' ;;
    'me get')  ;;
    'me update') flags='--name' ;;
    'me set-password') flags='--stdin' takes=('free') repeats=1 ;;
    'billing') verbs='balance transactions promo' ;;
    'billing balance') flags='--raw' ;;
    'billing transactions') flags='--type --page --limit --all --since --until' ;;
    'billing promo') takes=('free') ;;
    'login') flags='--key-stdin --key-file' ;;
    'logout')  ;;
    'profiles') verbs='list get use add remove' also='ls show rm' ;;
    'profiles list')  ;;
    'profiles get') takes=('names profile') ;;
    'profiles use') takes=('names profile') ;;
    'profiles add') takes=('free') ;;
    'profiles remove') takes=('names profile') ;;
    'sandbox') verbs='catalog status advance deposit fault reset serve' ;;
    'sandbox catalog') flags='--state' ;;
    'sandbox status') flags='--state' ;;
    'sandbox advance') flags='--state' takes=('free') ;;
    'sandbox deposit') flags='--state' takes=('free') ;;
    'sandbox fault') flags='--state' takes=('words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running none') ;;
    'sandbox reset') flags='--balance --speed --state' ;;
    'sandbox serve') flags='--port --speed --fault --state' ;;
    'doctor')  ;;
    'help') takes=('command') repeats=1 ;;
    'commands')  ;;
    'api') flags='--raw-field -f --field -F --input --include -i --paginate' takes=('words GET HEAD POST PUT PATCH DELETE' 'free') ;;
    'completion') flags='--install' takes=('words bash zsh fish powershell') ;;
  esac
  [[ -n $shared ]] || flags="$flags "'--profile --base-url --output -o --json --quiet -q --columns --sort --query --no-header --color --no-color --no-input --yes -y --timeout --debug --show-secrets --help -h'
}

# What the flag $1 takes at the place "path"; fails for a switch. "=" stands before what may be
# left out.
__gpucloud_value() {
  case $path:$1 in
    'instances list:--columns') offer='list name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at note' ;;
    'instances list:--sort') offer='sort name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at note' ;;
    'instances get:--columns'|'instances create:--columns'|'instances reorder:--columns') offer='list name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason' ;;
    'instances get:--sort'|'instances create:--sort'|'instances reorder:--sort') offer='sort name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason' ;;
    'instances create:--name'|'instances create:--docker-image'|'instances create:--docker-command'|'instances create:--shm-size'|'instances create:--env'|'instances create:-e'|'instances create:--volume'|'instances create:-v'|'instances create:--max-price'|'instances create:--wait-timeout'|'instances create:--poll-interval'|'instances reorder:--name'|'instances reorder:--wait-timeout'|'instances reorder:--poll-interval'|'instances start:--wait-timeout'|'instances start:--poll-interval'|'instances stop:--wait-timeout'|'instances stop:--poll-interval'|'instances terminate:--wait-timeout'|'instances terminate:--poll-interval'|'instances events:--page'|'instances events:--limit'|'instances wait:--poll-interval'|'catalog add:--name'|'drives create:--name'|'drives create:--size'|'drives update:--name'|'drives update:--size'|'ssh-keys add:--name'|'api-keys create:--key-file'|'api-keys create:--save-profile'|'me update:--name'|'billing transactions:--page'|'billing transactions:--limit'|'billing transactions:--since'|'billing transactions:--until'|'sandbox reset:--balance'|'sandbox reset:--speed'|'sandbox serve:--port'|'sandbox serve:--speed'|'api:--raw-field'|'api:-f'|'api:--field'|'api:-F') offer='free' ;;
    'instances create:--offer') offer='names offer' ;;
    'instances create:--image') offer='names image' ;;
    'instances create:--ssh-key') offer='names ssh-key' ;;
    'instances create:--template') offer='names template' ;;
    'instances create:--drive') offer='names drive' ;;
    'instances create:--port'|'instances create:-p') offer='port' ;;
    'instances create:--env-file'|'instances create:--file'|'instances create:-f'|'login:--key-file'|'sandbox catalog:--state'|'sandbox status:--state'|'sandbox advance:--state'|'sandbox deposit:--state'|'sandbox fault:--state'|'sandbox reset:--state'|'sandbox serve:--state'|'api:--input') offer='file' ;;
    'instances create:--wait'|'instances reorder:--wait'|'instances start:--wait') offer='=words active ssh' ;;
    'instances start:--columns'|'instances stop:--columns'|'instances terminate:--columns'|'instances wait:--columns'|'instances track:--columns'|'instances untrack:--columns') offer='list name id status paid_until' ;;
    'instances start:--sort'|'instances stop:--sort'|'instances terminate:--sort'|'instances wait:--sort'|'instances track:--sort'|'instances untrack:--sort') offer='sort name id status paid_until' ;;
    'instances events:--columns') offer='list created_at type message id instance_id payload' ;;
    'instances events:--sort') offer='sort created_at type message id instance_id payload' ;;
    'instances wait:--for') offer='words active stopped terminated ssh' ;;
    'instances endpoints:--columns') offer='list name url address protocol is_main port source' ;;
    'instances endpoints:--sort') offer='sort name url address protocol is_main port source' ;;
    'instances secrets:--columns') offer='list key value' ;;
    'instances secrets:--sort') offer='sort key value' ;;
    'instances recover:--columns') offer='list name outcome id asked_at note operation offer_id' ;;
    'instances recover:--sort') offer='sort name outcome id asked_at note operation offer_id' ;;
    'instances import:--columns') offer='list machines requests known' ;;
    'instances import:--sort') offer='sort machines requests known' ;;
    'catalog list:--columns'|'catalog add:--columns'|'catalog remove:--columns') offer='list kind name id price_per_hour price_at seen_at sources service_name region gpu cuda_version' ;;
    'catalog list:--sort'|'catalog add:--sort'|'catalog remove:--sort') offer='sort kind name id price_per_hour price_at seen_at sources service_name region gpu cuda_version' ;;
    'catalog list:--kind') offer='words offer image' ;;
    'drives list:--columns'|'drives get:--columns'|'drives create:--columns'|'drives update:--columns'|'drives resume:--columns') offer='list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    'drives list:--sort'|'drives get:--sort'|'drives create:--sort'|'drives update:--sort'|'drives resume:--sort') offer='sort name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    'ssh-keys list:--columns'|'ssh-keys get:--columns'|'ssh-keys add:--columns'|'ssh-keys delete:--columns') offer='list name id type fingerprint is_default created_at updated_at public_key' ;;
    'ssh-keys list:--sort'|'ssh-keys get:--sort'|'ssh-keys add:--sort'|'ssh-keys delete:--sort') offer='sort name id type fingerprint is_default created_at updated_at public_key' ;;
    'templates list:--columns'|'templates get:--columns') offer='list slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at' ;;
    'templates list:--sort'|'templates get:--sort') offer='sort slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at' ;;
    'me get:--columns'|'me update:--columns'|'me set-password:--columns') offer='list name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
    'me get:--sort'|'me update:--sort'|'me set-password:--sort') offer='sort name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
    'billing balance:--columns') offer='list balance reserved_balance total_balance' ;;
    'billing balance:--sort') offer='sort balance reserved_balance total_balance' ;;
    'billing transactions:--columns') offer='list created_at type status direction amount description id' ;;
    'billing transactions:--sort') offer='sort created_at type status direction amount description id' ;;
    'billing transactions:--type') offer='list deposit usage_charge bonus refund' ;;
    'billing promo:--columns') offer='list added_amount new_balance' ;;
    'billing promo:--sort') offer='sort added_amount new_balance' ;;
    'sandbox serve:--fault') offer='words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running' ;;
    'doctor:--columns') offer='list id status message hint' ;;
    'doctor:--sort') offer='sort id status message hint' ;;
    'commands:--columns') offer='list command summary usage aliases flags columns exit_codes' ;;
    'commands:--sort') offer='sort command summary usage aliases flags columns exit_codes' ;;
    'completion:--columns') offer='list shell file changed script' ;;
    'completion:--sort') offer='sort shell file changed script' ;;
    *:--profile) offer='names profile' ;;
    *:--base-url|*:--columns|*:--sort|*:--query|*:--timeout) offer='free' ;;
    *:--output|*:-o) offer='words table json jsonl csv tsv yaml id' ;;
    *:--color) offer='words auto always never' ;;
    *) return 1 ;;
  esac
}

# The file of names for this command line, by the rules of gpucloud itself.
__gpucloud_folder() {
  local state=${GPUCLOUD_STATE_DIR-} base
  folder=
  if [[ -n $state ]]; then
    [[ $state != /* ]] || folder=$state/cache
  else
    case ${OSTYPE-} in
      darwin*) base=${HOME-}/Library/Caches ;;
      msys*|cygwin*) base=${LOCALAPPDATA-}; [[ -z $base ]] || folder=$base/gpucloud/cache; return ;;
      *)
        base=${XDG_CACHE_HOME-}
        [[ $base == /* ]] || base=${HOME-}/.cache ;;
    esac
    [[ $base != /* ]] || folder=$base/gpucloud
  fi
}

# The lines of the file $1, in "lines".
__gpucloud_lines() {
  lines=()
  [[ -f $1 && -r $1 ]] || return 1
  if ((BASH_VERSINFO[0] >= 4)); then
    mapfile -t lines < "$1"
  else
    local line
    while IFS= read -r line; do lines[${#lines[@]}]=$line; done < "$1"
  fi
}

# Offers the names of the kind $1 that begin with "cur".
__gpucloud_names() {
  local kind=$1 tab=$'\t' folder line name rest id want= not= plain=$cur open= slot=
  local -a lines
  local IFS=$' \t\n'
  case $kind in
    instance) not=TERMINATED ;;
    terminated-instance) kind=instance want=TERMINATED ;;
  esac
  case $cur in
    \"*) open=\" plain=${cur#?} ;;
    \'*) open=\' plain=${cur#?} ;;
    *\\*) plain=${cur//\\/} ;;
  esac
  __gpucloud_folder
  [[ -n $folder ]] || return
  if [[ $kind == profile ]]; then
    __gpucloud_lines "$folder/completion/profiles.tsv"
  else
    slot=${profile:-${GPUCLOUD_PROFILE-}}
    if [[ -z $slot ]]; then
      __gpucloud_lines "$folder/completion/profiles.tsv"
      [[ ${lines[0]-} != profile*current ]] || { line=${lines[0]#*$tab} slot=${line%%$tab*}; }
      [[ $slot != sandbox || -z $address${GPUCLOUD_BASE_URL-} ]] || slot=-env
    fi
    if [[ $slot != sandbox && -n $address${GPUCLOUD_BASE_URL-}${GPUCLOUD_API_KEY-} ]]; then
      slot=-env
    fi
    [[ -n $slot && $slot != */* ]] || return
    __gpucloud_lines "$folder/completion/names/$slot.tsv"
  fi
  for line in "${lines[@]+"${lines[@]}"}"; do
    [[ $line == "$kind$tab$plain"* ]] || continue
    [[ -z $not || $line != *"$tab$not" ]] || continue
    [[ -z $want || $line == *"$tab$want" ]] || continue
    line=${line#*$tab}
    __gpucloud_name "${line%%$tab*}"
  done
  [[ -n $plain && -z ${COMPREPLY+set} ]] || return 0
  # No name fits: it may be the beginning of an id.
  for line in "${lines[@]+"${lines[@]}"}"; do
    [[ $line == "$kind$tab"*"$tab$plain"*"$tab"* ]] || continue
    [[ -z $not || $line != *"$tab$not" ]] || continue
    [[ -z $want || $line == *"$tab$want" ]] || continue
    line=${line#*$tab} rest=${line#*$tab} id=${rest%%$tab*}
    [[ $id != "$plain"* ]] || __gpucloud_name "$id"
  done
}

# Offers the name $1 in a form that the shell takes for one plain word, whatever it holds.
__gpucloud_name() {
  local word=$1
  case $open in
    \") [[ $word != *[\"\\\`\$\!]* ]] || return ;;
    \') [[ $word != *\'* ]] || return ;;
    *) [[ $word != *[!A-Za-z0-9._/+-]* ]] || printf -v word %q "$word" ;;
  esac
  # What is there already is not offered again.
  [[ $used == *$'\n'"$word"$'\n'* ]] || COMPREPLY[${#COMPREPLY[@]}]=$prefix$word
}

# Offers those of the words $@ that begin with "cur".
__gpucloud_words() {
  local word
  for word; do
    [[ $word != "$cur"* ]] || COMPREPLY[${#COMPREPLY[@]}]=$prefix$word
  done
}

__gpucloud_compopt() {
  ((BASH_VERSINFO[0] < 4)) || compopt "$@" 2> /dev/null
}

__gpucloud_offer() {
  local kind=${1%% *} word given
  local IFS=$' \t\n'
  case $kind in
    names) for word in ${1#* }; do __gpucloud_names "$word"; done ;;
    words) __gpucloud_words ${1#* } ;;
    # Nothing is offered, and readline takes over: it knows file names best.
    file) __gpucloud_compopt -o default -o filenames ;;
    list)
      __gpucloud_compopt -o nospace
      given=,
      [[ $cur != *,* ]] || { given=,${cur%,*}, prefix=$prefix${cur%,*}, cur=${cur##*,}; }
      for word in ${1#* }; do
        [[ $given == *",$word,"* ]] || __gpucloud_words "$word"
      done ;;
    sort)
      [[ $cur != -* ]] || { prefix=$prefix- cur=${cur#-}; }
      __gpucloud_words ${1#* } ;;
    port)
      __gpucloud_compopt -o nospace
      case $cur in
        *,*) prefix=$prefix${cur%,*}, cur=${cur##*,}; __gpucloud_words name= main ;;
        *:*/*) prefix=$prefix${cur%/*}/ cur=${cur##*/}; __gpucloud_words tcp udp ;;
      esac ;;
  esac
}

_gpucloud() {
  local IFS=$' \t\n'
  local path= offer= cur= prefix= profile= address= pending= literal= helping=
  local used=$'\n' verbs also flags shared repeats
  local line=${COMP_LINE:0:COMP_POINT} word lead whole part i n=0 count=0
  local -a words takes
  COMPREPLY=()

  # Bash has cut the line at "=" and ":" too; put back together what stands without a blank between.
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    lead=${line%%[![:space:]]*}
    line=${line:${#lead}}
    [[ ${line:0:${#word}} == "$word" ]] || word=$line
    if [[ -n $lead || $n == 0 ]]; then words[n++]=$word; else words[n-1]+=$word; fi
    line=${line:${#word}}
  done
  part=$word

  for ((i = 1; i < n - 1; i++)); do
    word=${words[i]}
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
      --profile=*) profile=${word#*=} ;;
      --base-url=*) address=1 ;;
      --*=*) ;;
      -?*)
        if __gpucloud_value "$word" && [[ $offer != =* ]]; then pending=$word; fi ;;
      *)
        if [[ -n $literal ]] || ! __gpucloud_step "$word"; then
          ((++count))
          used=$used$word$'\n'
        fi ;;
    esac
  done
  profile=${profile//[\"\'\\]/}

  cur=${words[n - 1]-} whole=$cur offer=
  if [[ -n $pending ]]; then
    __gpucloud_value "$pending"
  elif [[ -z $literal && $cur == --*=* ]]; then
    prefix=${cur%%=*}= cur=${cur#*=}
    __gpucloud_value "${prefix%=}"
    offer=${offer#=}
  else
    __gpucloud_place
    if [[ -z $literal && $cur == -* ]]; then
      offer="words $flags"
    elif [[ -n $verbs ]]; then
      __gpucloud_words $verbs
      [[ -n ${COMPREPLY+set} || -z $cur ]] || __gpucloud_words $also
    elif [[ -n $helping ]]; then
      return
    elif ((count < ${#takes[@]})); then
      offer=${takes[count]}
    elif [[ -n $repeats ]]; then
      offer=${takes[${#takes[@]} - 1]}
    fi
  fi
  [[ -z $offer ]] || __gpucloud_offer "$offer"

  # Readline puts what is offered in the place of the last piece alone.
  [[ $part == *[!=:@]* ]] || part=
  lead=${whole%"$part"}
  if [[ -n $lead ]]; then
    for ((i = 0; i < ${#COMPREPLY[@]}; i++)); do COMPREPLY[i]=${COMPREPLY[i]#"$lead"}; done
  fi
}

if ((BASH_VERSINFO[0] >= 4)); then
  complete -F _gpucloud gpucloud
else
  complete -o default -F _gpucloud gpucloud
fi
