# bash completion for gpucloud
# Written by "gpucloud completion": do not edit.
# Names come from files that gpucloud keeps in its cache folder: Tab starts no process, asks no
# service, and runs nothing of what it reads.

# Goes from the place "path" on by the word $1.
__gpucloud_step() {
  case $path in
    '')
      case $1 in
        instances|instance) path=instances ;;
        catalog) path=catalog ;;
        drives|drive) path=drives ;;
        ssh-keys|ssh-key) path=ssh-keys ;;
        api-keys|api-key) path=api-keys ;;
        templates|template) path=templates ;;
        status) path=status ;;
        me) path=me ;;
        billing) path=billing ;;
        login) path=login ;;
        logout) path=logout ;;
        profiles|profile) path=profiles ;;
        sandbox) path=sandbox ;;
        doctor) path=doctor ;;
        help) path= helping=1 ;;
        commands) path=commands ;;
        api) path=api ;;
        completion) path=completion ;;
        *) return 1 ;;
      esac ;;
    instances)
      case $1 in
        list|ls) path='instances list' ;;
        get|show) path='instances get' ;;
        create) path='instances create' ;;
        reorder) path='instances reorder' ;;
        start) path='instances start' ;;
        stop) path='instances stop' ;;
        terminate|rm) path='instances terminate' ;;
        events) path='instances events' ;;
        wait) path='instances wait' ;;
        endpoints) path='instances endpoints' ;;
        secrets) path='instances secrets' ;;
        open) path='instances open' ;;
        recover) path='instances recover' ;;
        track) path='instances track' ;;
        untrack) path='instances untrack' ;;
        export) path='instances export' ;;
        import) path='instances import' ;;
        *) return 1 ;;
      esac ;;
    catalog)
      case $1 in
        list|ls) path='catalog list' ;;
        add) path='catalog add' ;;
        remove|rm) path='catalog remove' ;;
        *) return 1 ;;
      esac ;;
    drives)
      case $1 in
        list|ls) path='drives list' ;;
        get|show) path='drives get' ;;
        create) path='drives create' ;;
        update) path='drives update' ;;
        resume) path='drives resume' ;;
        *) return 1 ;;
      esac ;;
    ssh-keys)
      case $1 in
        list|ls) path='ssh-keys list' ;;
        get|show) path='ssh-keys get' ;;
        add|create) path='ssh-keys add' ;;
        delete|rm) path='ssh-keys delete' ;;
        *) return 1 ;;
      esac ;;
    api-keys)
      case $1 in
        list|ls) path='api-keys list' ;;
        create) path='api-keys create' ;;
        *) return 1 ;;
      esac ;;
    templates)
      case $1 in
        list|ls) path='templates list' ;;
        get|show) path='templates get' ;;
        *) return 1 ;;
      esac ;;
    me)
      case $1 in
        get|show) path='me get' ;;
        update) path='me update' ;;
        set-password) path='me set-password' ;;
        *) return 1 ;;
      esac ;;
    billing)
      case $1 in
        balance) path='billing balance' ;;
        transactions) path='billing transactions' ;;
        spend) path='billing spend' ;;
        runway) path='billing runway' ;;
        promo) path='billing promo' ;;
        *) return 1 ;;
      esac ;;
    profiles)
      case $1 in
        list|ls) path='profiles list' ;;
        get|show) path='profiles get' ;;
        use) path='profiles use' ;;
        add) path='profiles add' ;;
        remove|rm) path='profiles remove' ;;
        *) return 1 ;;
      esac ;;
    sandbox)
      case $1 in
        tour) path='sandbox tour' ;;
        catalog) path='sandbox catalog' ;;
        status) path='sandbox status' ;;
        advance) path='sandbox advance' ;;
        deposit) path='sandbox deposit' ;;
        fault) path='sandbox fault' ;;
        reset) path='sandbox reset' ;;
        serve) path='sandbox serve' ;;
        *) return 1 ;;
      esac ;;
    *) return 1 ;;
  esac
}

# What there is at the place "path".
__gpucloud_place() {
  verbs= also= flags= shared= repeats= takes=()
  case ${path%% *} in
    '') verbs='instances catalog drives ssh-keys api-keys templates status me billing login logout profiles sandbox doctor help commands api completion' also='instance drive ssh-key api-key template profile' flags='--version -V' ;;
    instances)
      case ${path#* } in
        instances) verbs='list get create reorder start stop terminate events wait endpoints secrets open recover track untrack export import' also='ls show rm' ;;
        list) flags='--all -a --watch -w --interval' ;;
        get) flags='--watch -w --interval' takes=('names instance') ;;
        create) flags='--name --offer --image --ssh-key --template --drive --docker-image --docker-command --shm-size --port -p --env -e --env-file --any-env-key --volume -v --file -f --max-price --dry-run --schema --wait --wait-timeout --poll-interval' takes=(free) ;;
        reorder) flags='--name --any-name --max-price --wait --wait-timeout --poll-interval' takes=('names terminated-instance' free) ;;
        start) flags='--wait --wait-timeout --poll-interval' takes=('names instance') repeats=1 ;;
        stop) flags='--wait --wait-timeout --poll-interval' takes=('names instance') repeats=1 ;;
        terminate) flags='--wait --wait-timeout --poll-interval' takes=('names instance') repeats=1 ;;
        events) flags='--page --limit --all' takes=('names instance') ;;
        wait) flags='--profile --base-url --output -o --json --quiet -q --columns --sort --query --no-header --color --no-color --no-input --yes -y --debug --show-secrets --for --timeout --poll-interval --help -h' shared=no takes=('names instance') repeats=1 ;;
        endpoints) takes=('names instance') ;;
        secrets) takes=('names instance' free) ;;
        open) flags=--print takes=('names instance' free) ;;
        recover) flags=--retry takes=(free) repeats=1 ;;
        track) flags=--force takes=(free) repeats=1 ;;
        untrack) takes=('names instance') repeats=1 ;;
        export)  ;;
        import) takes=(file) ;;
      esac ;;
    catalog)
      case ${path#* } in
        catalog) verbs='list add remove' also='ls rm' ;;
        list) flags=--kind ;;
        add) flags=--name takes=('words offer image' free) ;;
        remove) takes=('names offer image') ;;
      esac ;;
    drives)
      case ${path#* } in
        drives) verbs='list get create update resume' also='ls show' ;;
        list) flags='--watch -w --interval' ;;
        get) takes=('names drive') ;;
        create) flags='--name --size' takes=(free) ;;
        update) flags='--name --size' takes=('names drive') ;;
        resume) takes=('names drive') ;;
      esac ;;
    ssh-keys)
      case ${path#* } in
        ssh-keys) verbs='list get add delete' also='ls show create rm' ;;
        list)  ;;
        get) takes=('names ssh-key') ;;
        add) flags='--name --default' takes=(file) ;;
        delete) takes=('names ssh-key') repeats=1 ;;
      esac ;;
    api-keys)
      case ${path#* } in
        api-keys) verbs='list create' also=ls ;;
        list)  ;;
        create) flags='--key-file --save-profile' takes=(free) ;;
      esac ;;
    templates)
      case ${path#* } in
        templates) verbs='list get' also='ls show' ;;
        list)  ;;
        get) flags=--markdown takes=('names template') ;;
      esac ;;
    status)
      case ${path#* } in
        status) flags='--all -a --watch -w --interval' ;;
      esac ;;
    me)
      case ${path#* } in
        me) verbs='get update set-password' also=show ;;
        get)  ;;
        update) flags=--name ;;
        set-password) flags=--stdin takes=(free) repeats=1 ;;
      esac ;;
    billing)
      case ${path#* } in
        billing) verbs='balance transactions spend runway promo' ;;
        balance) flags=--raw ;;
        transactions) flags='--type --page --limit --all --since --until' ;;
        spend) flags='--by --since --until' ;;
        runway) flags=--fail-below ;;
        promo) takes=(free) ;;
      esac ;;
    login)
      case ${path#* } in
        login) flags='--key-stdin --key-file' ;;
      esac ;;
    logout)
      case ${path#* } in
        logout)  ;;
      esac ;;
    profiles)
      case ${path#* } in
        profiles) verbs='list get use add remove' also='ls show rm' ;;
        list)  ;;
        get) takes=('names profile') ;;
        use) takes=('names profile') ;;
        add) takes=(free) ;;
        remove) takes=('names profile') ;;
      esac ;;
    sandbox)
      case ${path#* } in
        sandbox) verbs='tour catalog status advance deposit fault reset serve' ;;
        tour)  ;;
        catalog) flags=--state ;;
        status) flags=--state ;;
        advance) flags=--state takes=(free) ;;
        deposit) flags=--state takes=(free) ;;
        fault) flags=--state takes=('words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running none') ;;
        reset) flags='--balance --speed --state' ;;
        serve) flags='--port --speed --fault --state' ;;
      esac ;;
    doctor)
      case ${path#* } in
        doctor)  ;;
      esac ;;
    help)
      case ${path#* } in
        help) takes=(command) repeats=1 ;;
      esac ;;
    commands)
      case ${path#* } in
        commands)  ;;
      esac ;;
    api)
      case ${path#* } in
        api) flags='--raw-field -f --field -F --input --include -i --paginate' takes=('words GET HEAD POST PUT PATCH DELETE' free) ;;
      esac ;;
    completion)
      case ${path#* } in
        completion) flags=--install takes=('words bash zsh fish powershell') ;;
      esac ;;
  esac
  [[ -n $shared ]] || flags="$flags "'--profile --base-url --output -o --json --quiet -q --columns --sort --query --no-header --color --no-color --no-input --yes -y --timeout --debug --show-secrets --help -h'
}

# What the flag $1 takes at the place "path"; fails for a switch. "=" stands before what may be
# left out.
__gpucloud_value() {
  case $1 in
    --columns)
      case $path in
        'instances list') offer='list name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at note' ;;
        'instances get'|'instances create'|'instances reorder') offer='list name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason' ;;
        'instances start'|'instances stop'|'instances terminate'|'instances wait'|'instances track'|'instances untrack') offer='list name id status paid_until' ;;
        'instances events') offer='list created_at type message id instance_id payload' ;;
        'instances endpoints') offer='list name url address protocol is_main port source' ;;
        'instances secrets') offer='list key value' ;;
        'instances recover') offer='list name outcome id asked_at note operation offer_id' ;;
        'instances import') offer='list machines requests known' ;;
        'catalog list'|'catalog add'|'catalog remove') offer='list kind name id price_per_hour price_at seen_at sources service_name region gpu cuda_version' ;;
        'drives list'|'drives get'|'drives create'|'drives update'|'drives resume') offer='list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
        'ssh-keys list'|'ssh-keys get'|'ssh-keys add'|'ssh-keys delete') offer='list name id type fingerprint is_default created_at updated_at public_key' ;;
        'templates list'|'templates get') offer='list slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at' ;;
        status) offer='list as_of balance per_hour per_day per_month hours_left runs_out_at unexplained machines drives attention unread' ;;
        'me get'|'me update'|'me set-password') offer='list name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
        'billing balance') offer='list balance reserved_balance total_balance' ;;
        'billing transactions') offer='list created_at type status direction amount description id' ;;
        'billing spend') offer='list period spent charged refunded deposited bonus other transactions from to' ;;
        'billing runway') offer='list balance per_hour hours_left runs_out_at unexplained_per_hour below as_of' ;;
        'billing promo') offer='list added_amount new_balance' ;;
        'sandbox tour') offer='list title command' ;;
        doctor) offer='list id status message hint' ;;
        commands) offer='list command summary usage aliases flags columns exit_codes' ;;
        completion) offer='list shell file changed script' ;;
        *) offer=free ;;
      esac ;;
    --sort)
      case $path in
        'instances list') offer='sort name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at note' ;;
        'instances get'|'instances create'|'instances reorder') offer='sort name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason' ;;
        'instances start'|'instances stop'|'instances terminate'|'instances wait'|'instances track'|'instances untrack') offer='sort name id status paid_until' ;;
        'instances events') offer='sort created_at type message id instance_id payload' ;;
        'instances endpoints') offer='sort name url address protocol is_main port source' ;;
        'instances secrets') offer='sort key value' ;;
        'instances recover') offer='sort name outcome id asked_at note operation offer_id' ;;
        'instances import') offer='sort machines requests known' ;;
        'catalog list'|'catalog add'|'catalog remove') offer='sort kind name id price_per_hour price_at seen_at sources service_name region gpu cuda_version' ;;
        'drives list'|'drives get'|'drives create'|'drives update'|'drives resume') offer='sort name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
        'ssh-keys list'|'ssh-keys get'|'ssh-keys add'|'ssh-keys delete') offer='sort name id type fingerprint is_default created_at updated_at public_key' ;;
        'templates list'|'templates get') offer='sort slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at' ;;
        status) offer='sort as_of balance per_hour per_day per_month hours_left runs_out_at unexplained machines drives attention unread' ;;
        'me get'|'me update'|'me set-password') offer='sort name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
        'billing balance') offer='sort balance reserved_balance total_balance' ;;
        'billing transactions') offer='sort created_at type status direction amount description id' ;;
        'billing spend') offer='sort period spent charged refunded deposited bonus other transactions from to' ;;
        'billing runway') offer='sort balance per_hour hours_left runs_out_at unexplained_per_hour below as_of' ;;
        'billing promo') offer='sort added_amount new_balance' ;;
        'sandbox tour') offer='sort title command' ;;
        doctor) offer='sort id status message hint' ;;
        commands) offer='sort command summary usage aliases flags columns exit_codes' ;;
        completion) offer='sort shell file changed script' ;;
        *) offer=free ;;
      esac ;;
    --profile) offer='names profile' ;;
    --base-url) offer=free ;;
    --query) offer=free ;;
    --timeout) offer=free ;;
    --output) offer='words table json jsonl csv tsv yaml id' ;;
    -o) offer='words table json jsonl csv tsv yaml id' ;;
    --color) offer='words auto always never' ;;
    --interval)
      case $path in
        'instances list'|'instances get'|'drives list'|status) offer=free ;;
        *) return 1 ;;
      esac ;;
    --name)
      case $path in
        'instances create'|'instances reorder'|'catalog add'|'drives create'|'drives update'|'ssh-keys add'|'me update') offer=free ;;
        *) return 1 ;;
      esac ;;
    --docker-image)
      case $path in
        'instances create') offer=free ;;
        *) return 1 ;;
      esac ;;
    --docker-command)
      case $path in
        'instances create') offer=free ;;
        *) return 1 ;;
      esac ;;
    --shm-size)
      case $path in
        'instances create') offer=free ;;
        *) return 1 ;;
      esac ;;
    --env)
      case $path in
        'instances create') offer=free ;;
        *) return 1 ;;
      esac ;;
    -e)
      case $path in
        'instances create') offer=free ;;
        *) return 1 ;;
      esac ;;
    --volume)
      case $path in
        'instances create') offer=free ;;
        *) return 1 ;;
      esac ;;
    -v)
      case $path in
        'instances create') offer=free ;;
        *) return 1 ;;
      esac ;;
    --max-price)
      case $path in
        'instances create'|'instances reorder') offer=free ;;
        *) return 1 ;;
      esac ;;
    --wait-timeout)
      case $path in
        'instances create'|'instances reorder'|'instances start'|'instances stop'|'instances terminate') offer=free ;;
        *) return 1 ;;
      esac ;;
    --poll-interval)
      case $path in
        'instances create'|'instances reorder'|'instances start'|'instances stop'|'instances terminate'|'instances wait') offer=free ;;
        *) return 1 ;;
      esac ;;
    --page)
      case $path in
        'instances events'|'billing transactions') offer=free ;;
        *) return 1 ;;
      esac ;;
    --limit)
      case $path in
        'instances events'|'billing transactions') offer=free ;;
        *) return 1 ;;
      esac ;;
    --size)
      case $path in
        'drives create'|'drives update') offer=free ;;
        *) return 1 ;;
      esac ;;
    --key-file)
      case $path in
        'api-keys create') offer=free ;;
        login) offer=file ;;
        *) return 1 ;;
      esac ;;
    --save-profile)
      case $path in
        'api-keys create') offer=free ;;
        *) return 1 ;;
      esac ;;
    --since)
      case $path in
        'billing transactions'|'billing spend') offer=free ;;
        *) return 1 ;;
      esac ;;
    --until)
      case $path in
        'billing transactions'|'billing spend') offer=free ;;
        *) return 1 ;;
      esac ;;
    --fail-below)
      case $path in
        'billing runway') offer=free ;;
        *) return 1 ;;
      esac ;;
    --balance)
      case $path in
        'sandbox reset') offer=free ;;
        *) return 1 ;;
      esac ;;
    --speed)
      case $path in
        'sandbox reset'|'sandbox serve') offer=free ;;
        *) return 1 ;;
      esac ;;
    --port)
      case $path in
        'sandbox serve') offer=free ;;
        'instances create') offer=port ;;
        *) return 1 ;;
      esac ;;
    --raw-field)
      case $path in
        api) offer=free ;;
        *) return 1 ;;
      esac ;;
    -f)
      case $path in
        api) offer=free ;;
        'instances create') offer=file ;;
        *) return 1 ;;
      esac ;;
    --field)
      case $path in
        api) offer=free ;;
        *) return 1 ;;
      esac ;;
    -F)
      case $path in
        api) offer=free ;;
        *) return 1 ;;
      esac ;;
    --offer)
      case $path in
        'instances create') offer='names offer' ;;
        *) return 1 ;;
      esac ;;
    --image)
      case $path in
        'instances create') offer='names image' ;;
        *) return 1 ;;
      esac ;;
    --ssh-key)
      case $path in
        'instances create') offer='names ssh-key' ;;
        *) return 1 ;;
      esac ;;
    --template)
      case $path in
        'instances create') offer='names template' ;;
        *) return 1 ;;
      esac ;;
    --drive)
      case $path in
        'instances create') offer='names drive' ;;
        *) return 1 ;;
      esac ;;
    -p)
      case $path in
        'instances create') offer=port ;;
        *) return 1 ;;
      esac ;;
    --env-file)
      case $path in
        'instances create') offer=file ;;
        *) return 1 ;;
      esac ;;
    --file)
      case $path in
        'instances create') offer=file ;;
        *) return 1 ;;
      esac ;;
    --state)
      case $path in
        'sandbox catalog'|'sandbox status'|'sandbox advance'|'sandbox deposit'|'sandbox fault'|'sandbox reset'|'sandbox serve') offer=file ;;
        *) return 1 ;;
      esac ;;
    --input)
      case $path in
        api) offer=file ;;
        *) return 1 ;;
      esac ;;
    --wait)
      case $path in
        'instances create'|'instances reorder'|'instances start') offer='=words active ssh' ;;
        *) return 1 ;;
      esac ;;
    --for)
      case $path in
        'instances wait') offer='words active stopped terminated ssh' ;;
        *) return 1 ;;
      esac ;;
    --kind)
      case $path in
        'catalog list') offer='words offer image' ;;
        *) return 1 ;;
      esac ;;
    --type)
      case $path in
        'billing transactions') offer='list deposit usage_charge bonus refund' ;;
        *) return 1 ;;
      esac ;;
    --by)
      case $path in
        'billing spend') offer='words day week month' ;;
        *) return 1 ;;
      esac ;;
    --fault)
      case $path in
        'sandbox serve') offer='words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running' ;;
        *) return 1 ;;
      esac ;;
    *) return 1 ;;
  esac
}

# The cache folder, by the rules of gpucloud itself.
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

# The lines of the file $1, in "lines"; fails when there are none.
__gpucloud_lines() {
  lines=()
  [[ -f $1 && -r $1 ]] || return 1
  if ((BASH_VERSINFO[0] >= 4)); then
    mapfile -t lines < "$1"
  else
    IFS=$'\n' read -r -d '' -a lines < "$1"
  fi
  [[ -n ${lines+set} ]]
}

# Offers the names of the kind $1 that begin with "cur". Whole arrays are cut at once where that
# can be: a loop in bash costs more than all the rest.
__gpucloud_names() {
  local folder line name tab=$'\t' plain=$cur open= slot=
  local -a lines fitting
  case $cur in
    \"*) open=\" plain=${cur#?} ;;
    \'*) open=\' plain=${cur#?} ;;
    *\\*) plain=${cur//\\/} ;;
  esac
  __gpucloud_folder
  [[ -n $folder ]] || return
  folder=$folder/completion
  if [[ $1 == profile ]]; then
    __gpucloud_lines "$folder/profiles.tsv" || return
  else
    slot=${profile:-${GPUCLOUD_PROFILE-}}
    if [[ -z $slot ]]; then
      if __gpucloud_lines "$folder/profiles.tsv" && [[ ${lines[0]} == *"$tab"current ]]; then
        line=${lines[0]#*$tab}
        slot=${line%%$tab*}
      fi
      [[ $slot != sandbox || -z $address${GPUCLOUD_BASE_URL-} ]] || slot=-env
    fi
    if [[ $slot != sandbox && -n $address${GPUCLOUD_BASE_URL-}${GPUCLOUD_API_KEY-} ]]; then
      slot=-env
    fi
    [[ -n $slot && $slot != */* ]] || return
    __gpucloud_lines "$folder/names/$slot/$1.tsv" || return
  fi
  if [[ -z $plain ]]; then
    fitting=("${lines[@]#*$tab}")
  else
    fitting=()
    for line in "${lines[@]}"; do
      [[ $line != "$1$tab$plain"* ]] || fitting+=("${line#*$tab}")
    done
    # No name fits: it may be the beginning of an id.
    if [[ -z ${fitting+set} ]]; then
      for line in "${lines[@]#*$tab*$tab}"; do
        [[ $line != "$plain"* ]] || fitting+=("$line")
      done
    fi
    [[ -n ${fitting+set} ]] || return
  fi
  fitting=("${fitting[@]%%$tab*}")
  # Plain words are what quotes would leave as it is: all are tried at once.
  IFS=:
  line=":${fitting[*]}"
  printf -v name %q "$line"
  if [[ -n $open || $name != "$line" || $line == *:[#~-]* ]]; then
    for name in "${fitting[@]}"; do __gpucloud_odd "$name"; done
  elif [[ $used == / ]]; then
    COMPREPLY+=("${fitting[@]/#/$prefix}")
  else
    # What is there already is not offered again.
    line=$line:
    for name in "${typed[@]}"; do line=${line/":$name:"/:}; done
    fitting=(${line#:})
    [[ -z ${fitting+set} ]] || COMPREPLY+=("${fitting[@]/#/$prefix}")
  fi
  IFS=$' \t\n'
}

# Offers the name $1 in a form that the shell takes for one plain word, whatever it holds.
__gpucloud_odd() {
  local word=$1
  case $open in
    \") [[ $word != *[\"\\\`\$\!]* ]] || return ;;
    \') [[ $word != *\'* ]] || return ;;
    *) printf -v word %q "$word" ;;
  esac
  [[ $used == *"/$word/"* ]] || COMPREPLY[${#COMPREPLY[@]}]=$prefix$word
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
  local used=/ verbs also flags shared repeats
  local line=${COMP_LINE:0:COMP_POINT} word lead whole part i n=0 count=0
  local -a words takes typed
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
          used=$used$word/ typed+=("$word")
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
