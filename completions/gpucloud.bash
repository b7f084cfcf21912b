# bash completion for gpucloud
# Written by "gpucloud completion": do not edit.
# Tab reads names from files in the cache folder of gpucloud, and never runs their text.
# It doesn't start processes or send requests.

# One function per command. For a word, it sets "path" (a subcommand) or "offer" (the type of a
# flag's value, with a leading "=" if the value is optional). For a blank, it lists all words.
__gpucloud_at_() {
  case $1 in
    login) path=login ;;
    sandbox) path=sandbox ;;
    doctor) path=doctor ;;
    instances|instance) path=instances ;;
    run) path=run ;;
    jobs|job) path=jobs ;;
    status) path=status ;;
    audit) path=audit ;;
    catalog) path=catalog ;;
    templates|template) path=templates ;;
    drives|drive) path=drives ;;
    ssh-keys|ssh-key) path=ssh_keys ;;
    billing) path=billing ;;
    me) path=me ;;
    api-keys|api-key) path=api_keys ;;
    profiles|profile) path=profiles ;;
    logout) path=logout ;;
    api) path=api ;;
    commands) path= helping=yes ;;
    completion) path=completion ;;
    help) path= helping='options exit-codes environment output scripting deadlines' ;;
    ' ') verbs='login sandbox doctor instances run jobs status audit catalog templates drives ssh-keys billing me api-keys profiles logout api commands completion help' flags='--version -V' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_login() {
  case $1 in
    --columns) offer='list name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --sort) offer='words name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --key-file) offer=file ;;
    --key-command) offer=free ;;
    --store) offer='words keyring file command' ;;
    ' ') flags='--key-stdin --key-file --key-command --store' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox() {
  case $1 in
    tour) path=sandbox_tour ;;
    catalog) path=sandbox_catalog ;;
    status) path=sandbox_status ;;
    advance) path=sandbox_advance ;;
    deposit) path=sandbox_deposit ;;
    fault) path=sandbox_fault ;;
    gpu) path=sandbox_gpu ;;
    rogue) path=sandbox_rogue ;;
    reset) path=sandbox_reset ;;
    serve) path=sandbox_serve ;;
    ' ') verbs='tour catalog status advance deposit fault gpu rogue reset serve' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_tour() {
  case $1 in
    --columns) offer='list title command' ;;
    --sort) offer='words title command' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_catalog() {
  case $1 in
    --state) offer=file ;;
    ' ') flags=--state ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_status() {
  case $1 in
    --state) offer=file ;;
    ' ') flags=--state ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_advance() {
  case $1 in
    --state) offer=file ;;
    ' ') flags=--state takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_deposit() {
  case $1 in
    --state) offer=file ;;
    ' ') flags=--state takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_fault() {
  case $1 in
    --state) offer=file ;;
    ' ') flags=--state takes=('words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running none') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_gpu() {
  case $1 in
    --state) offer=file ;;
    ' ') flags=--state takes=('names instance' free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_rogue() {
  case $1 in
    --state) offer=file ;;
    ' ') flags=--state takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_reset() {
  case $1 in
    --state) offer=file ;;
    --balance|--speed) offer=free ;;
    ' ') flags='--balance --speed --state' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_sandbox_serve() {
  case $1 in
    --state) offer=file ;;
    --port|--speed) offer=free ;;
    --fault) offer='words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running' ;;
    ' ') flags='--port --speed --fault --state' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_doctor() {
  case $1 in
    --columns) offer='list id status message hint' ;;
    --sort) offer='words id status message hint' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances() {
  case $1 in
    list|ls) path=instances_list ;;
    get|show) path=instances_get ;;
    create) path=instances_create ;;
    reorder) path=instances_reorder ;;
    start) path=instances_start ;;
    stop) path=instances_stop ;;
    terminate|rm) path=instances_terminate ;;
    events) path=instances_events ;;
    wait) path=instances_wait ;;
    ssh) path=instances_ssh ;;
    scp) path=instances_scp ;;
    tunnel) path=instances_tunnel ;;
    ssh-config) path=instances_ssh_config ;;
    endpoints) path=instances_endpoints ;;
    secrets) path=instances_secrets ;;
    open) path=instances_open ;;
    top) path=instances_top ;;
    inventory) path=instances_inventory ;;
    expire) path=instances_expire ;;
    reap) path=instances_reap ;;
    recover) path=instances_recover ;;
    track) path=instances_track ;;
    untrack) path=instances_untrack ;;
    ' ') verbs='list get create reorder start stop terminate events wait ssh scp tunnel ssh-config endpoints secrets open top inventory expire reap recover track untrack' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_list() {
  case $1 in
    --interval) offer=free ;;
    --columns) offer='list name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at ends_at if_idle_seconds idle_seconds note unread' ;;
    --sort) offer='words name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at ends_at if_idle_seconds idle_seconds note unread' ;;
    ' ') flags='--all -a --watch -w --interval' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_get() {
  case $1 in
    --interval) offer=free ;;
    --columns) offer='list name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at' ;;
    --sort) offer='words name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at' ;;
    ' ') flags='--watch -w --interval' repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_create() {
  case $1 in
    --env-file|--file|-f) offer=file ;;
    --name|--retry-for|--docker-image|--docker-command|--shm-size|--port|-p|--env|-e|--volume|-v|--max-price|--terminate-after|--terminate-at|--if-idle|--count|--min-count|--wait-timeout|--poll-interval) offer=free ;;
    --columns) offer='list name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at' ;;
    --sort) offer='words name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at' ;;
    --offer) offer='names offer' ;;
    --image) offer='names image' ;;
    --drive) offer='names drive' ;;
    --ssh-key) offer='names ssh-key' ;;
    --template) offer='names template' ;;
    --wait) offer='=words active ssh' ;;
    ' ') flags='--name --offer --retry-for --image --drive --ssh-key --template --docker-image --docker-command --shm-size --port -p --env -e --env-file --any-env-key --volume -v --max-price --terminate-after --terminate-at --if-idle --unenforced --file -f --count --min-count --if-not-exists --wait --wait-timeout --poll-interval --dry-run --schema' takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_reorder() {
  case $1 in
    --name|--max-price|--terminate-after|--terminate-at|--if-idle|--wait-timeout|--poll-interval) offer=free ;;
    --columns) offer='list name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at' ;;
    --sort) offer='words name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at' ;;
    --wait) offer='=words active ssh' ;;
    ' ') flags='--name --any-name --max-price --terminate-after --terminate-at --if-idle --unenforced --wait --wait-timeout --poll-interval' takes=('names terminated' free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_start() {
  case $1 in
    --wait-timeout|--poll-interval) offer=free ;;
    --wait) offer='=words active ssh' ;;
    --columns) offer='list name id status paid_until ends_at' ;;
    --sort) offer='words name id status paid_until ends_at' ;;
    ' ') flags='--wait --wait-timeout --poll-interval' repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_stop() {
  case $1 in
    --wait-timeout|--poll-interval) offer=free ;;
    --columns) offer='list name id status paid_until ends_at' ;;
    --sort) offer='words name id status paid_until ends_at' ;;
    ' ') flags='--wait --wait-timeout --poll-interval' repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_terminate() {
  case $1 in
    --wait-timeout|--poll-interval) offer=free ;;
    --columns) offer='list name id status paid_until ends_at' ;;
    --sort) offer='words name id status paid_until ends_at' ;;
    ' ') flags='--wait --wait-timeout --poll-interval' repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_events() {
  case $1 in
    --resume) offer=file ;;
    --page|--limit|--since|--poll-interval) offer=free ;;
    --columns) offer='list created_at instance type message id instance_id payload' ;;
    --sort) offer='words created_at instance type message id instance_id payload' ;;
    --type) offer='list info warning error status_change billing' ;;
    --until) offer='words active stopped terminated error warning billing' ;;
    ' ') flags='--page --limit --all --since --type --follow -f --until --resume --poll-interval' repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_wait() {
  case $1 in
    --wait-timeout|--poll-interval) offer=free ;;
    --columns) offer='list name id status paid_until ends_at' ;;
    --sort) offer='words name id status paid_until ends_at' ;;
    --for) offer='words active stopped terminated ssh' ;;
    ' ') flags='--for --wait-timeout --poll-interval' repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_ssh() {
  case $1 in
    --identity|-i) offer=file ;;
    --user|--ssh-option|--ssh-arg|--port|--wait-timeout|--poll-interval) offer=free ;;
    --columns) offer='list command' ;;
    --sort) offer='words command' ;;
    ' ') flags='--tty -t --identity -i --user --ssh-option --ssh-arg --port --wait --wait-timeout --poll-interval --print' repeats=1 takes=('names instance' free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_scp() {
  case $1 in
    --identity|-i) offer=file ;;
    --user|--ssh-option|--ssh-arg|--port|--wait-timeout|--poll-interval) offer=free ;;
    --columns) offer='list command' ;;
    --sort) offer='words command' ;;
    ' ') flags='--recursive -r --preserve -p --identity -i --user --ssh-option --ssh-arg --port --wait --wait-timeout --poll-interval --print' repeats=1 takes=(path) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_tunnel() {
  case $1 in
    --identity|-i) offer=file ;;
    --user|--ssh-option|--ssh-arg|--port|--wait-timeout|--poll-interval) offer=free ;;
    --columns) offer='list name endpoint url address local_port remote_port' ;;
    --sort) offer='words name endpoint url address local_port remote_port' ;;
    ' ') flags='--open --no-reconnect --identity -i --user --ssh-option --ssh-arg --port --wait --wait-timeout --poll-interval --print' takes=('names instance' free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_ssh_config() {
  case $1 in
    --columns) offer='list host hostname port user id' ;;
    --sort) offer='words host hostname port user id' ;;
    ' ') flags=--install ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_endpoints() {
  case $1 in
    --columns) offer='list instance name url address protocol is_main port source instance_id' ;;
    --sort) offer='words instance name url address protocol is_main port source instance_id' ;;
    ' ') repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_secrets() {
  case $1 in
    --columns) offer='list key value' ;;
    --sort) offer='words key value' ;;
    ' ') takes=('names instance' free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_open() {
  case $1 in
    ' ') flags=--print takes=('names instance' free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_top() {
  case $1 in
    --identity|-i) offer=file ;;
    --interval|--user|--ssh-option|--ssh-arg) offer=free ;;
    --columns) offer='list name id status index model utilization_percent vram_used_mib vram_total_mib temperature_c power_w cpu_percent memory_used_mib memory_total_mib disk_used_percent idle_seconds price_per_hour error' ;;
    --sort) offer='words name id status index model utilization_percent vram_used_mib vram_total_mib temperature_c power_w cpu_percent memory_used_mib memory_total_mib disk_used_percent idle_seconds price_per_hour error' ;;
    ' ') flags='--watch -w --interval --identity -i --user --ssh-option --ssh-arg' repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_inventory() {
  case $1 in
    --identity|-i) offer=file ;;
    --user|--ssh-option|--ssh-arg) offer=free ;;
    --columns) offer='list name hostname port user gpus offer host id' ;;
    --sort) offer='words name hostname port user gpus offer host id' ;;
    --format) offer='words ansible parallel hostfile ssh-config' ;;
    ' ') flags='--format --identity -i --user --ssh-option --ssh-arg' repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_expire() {
  case $1 in
    --after|--at|--if-idle) offer=free ;;
    --columns) offer='list name id status ends_at if_idle_seconds paid_until' ;;
    --sort) offer='words name id status ends_at if_idle_seconds paid_until' ;;
    ' ') flags='--after --at --if-idle --never' repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_reap() {
  case $1 in
    --every) offer=free ;;
    --columns) offer='list name id deadline outcome reason exit_code overdue_seconds' ;;
    --sort) offer='words name id deadline outcome reason exit_code overdue_seconds' ;;
    ' ') flags='--install --uninstall --status --every' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_recover() {
  case $1 in
    --columns) offer='list name outcome id asked_at note operation offer_id uid' ;;
    --sort) offer='words name outcome id asked_at note operation offer_id uid' ;;
    ' ') repeats=1 takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_track() {
  case $1 in
    --columns) offer='list name id status paid_until ends_at' ;;
    --sort) offer='words name id status paid_until ends_at' ;;
    ' ') flags=--force repeats=1 takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_instances_untrack() {
  case $1 in
    --columns) offer='list name id status paid_until ends_at' ;;
    --sort) offer='words name id status paid_until ends_at' ;;
    ' ') repeats=1 takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_run() {
  case $1 in
    --env-file|--file|-f|--identity|-i) offer=file ;;
    --name|--retry-for|--docker-image|--docker-command|--shm-size|--port|-p|--env|-e|--volume|-v|--max-price|--terminate-after|--terminate-at|--if-idle|--user|--ssh-option|--ssh-arg|--count|--min-count|--exclude|--fetch|--fetch-every|--pass-env|--keep-on-failure|--grace|--wait-timeout|--poll-interval) offer=free ;;
    --offer) offer='names offer' ;;
    --image) offer='names image' ;;
    --drive) offer='names drive' ;;
    --ssh-key) offer='names ssh-key' ;;
    --template) offer='names template' ;;
    --columns) offer='list name names command' ;;
    --sort) offer='words name names command' ;;
    --on) offer='names instance' ;;
    --sync|--report) offer=path ;;
    ' ') flags='--name --offer --retry-for --image --drive --ssh-key --template --docker-image --docker-command --shm-size --port -p --env -e --env-file --any-env-key --volume -v --max-price --terminate-after --terminate-at --if-idle --unenforced --file -f --identity -i --user --ssh-option --ssh-arg --on --here --count --min-count --sync --exclude --fetch --fetch-every --pass-env --keep-on-failure --grace --report --detach --dry-run --wait-timeout --poll-interval' repeats=1 takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_jobs() {
  case $1 in
    list|ls) path=jobs_list ;;
    get|show) path=jobs_get ;;
    logs) path=jobs_logs ;;
    attach) path=jobs_attach ;;
    stop) path=jobs_stop ;;
    ' ') verbs='list get logs attach stop' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_jobs_list() {
  case $1 in
    --columns) offer='list name status exit_code command started_at seconds cost_at_most ends_at ended_at id' ;;
    --sort) offer='words name status exit_code command started_at seconds cost_at_most ends_at ended_at id' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_jobs_get() {
  case $1 in
    --columns) offer='list name status exit_code command started_at seconds cost_at_most ends_at ended_at id' ;;
    --sort) offer='words name status exit_code command started_at seconds cost_at_most ends_at ended_at id' ;;
    ' ') takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_jobs_logs() {
  case $1 in
    --identity|-i) offer=file ;;
    --tail|--user|--ssh-option|--ssh-arg) offer=free ;;
    ' ') flags='--follow -f --tail --identity -i --user --ssh-option --ssh-arg' takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_jobs_attach() {
  case $1 in
    --identity|-i) offer=file ;;
    --user|--ssh-option|--ssh-arg|--wait-timeout|--poll-interval) offer=free ;;
    --report) offer=path ;;
    ' ') flags='--identity -i --user --ssh-option --ssh-arg --report --wait-timeout --poll-interval' takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_jobs_stop() {
  case $1 in
    --identity|-i) offer=file ;;
    --user|--ssh-option|--ssh-arg) offer=free ;;
    ' ') flags='--identity -i --user --ssh-option --ssh-arg --no-fetch' takes=('names instance') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_status() {
  case $1 in
    --interval) offer=free ;;
    --columns) offer='list as_of balance per_hour per_day per_month hours_left runs_out_at unexplained instances drives attention unread' ;;
    --sort) offer='words as_of balance per_hour per_day per_month hours_left runs_out_at unexplained instances drives attention unread' ;;
    ' ') flags='--all -a --watch -w --interval' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_audit() {
  case $1 in
    --columns) offer='list check result per_hour message command' ;;
    --sort) offer='words check result per_hour message command' ;;
    ' ') flags=--exact ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_catalog() {
  case $1 in
    list|ls) path=catalog_list ;;
    add) path=catalog_add ;;
    remove|rm) path=catalog_remove ;;
    ' ') verbs='list add remove' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_catalog_list() {
  case $1 in
    --columns) offer='list kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version' ;;
    --sort) offer='words kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version' ;;
    --kind) offer='words offer image' ;;
    ' ') flags=--kind ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_catalog_add() {
  case $1 in
    --name) offer=free ;;
    --columns) offer='list kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version' ;;
    --sort) offer='words kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version' ;;
    ' ') flags=--name takes=('words offer image' free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_catalog_remove() {
  case $1 in
    --columns) offer='list kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version' ;;
    --sort) offer='words kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version' ;;
    ' ') takes=('names offer image') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_templates() {
  case $1 in
    list|ls) path=templates_list ;;
    get|show) path=templates_get ;;
    ' ') verbs='list get' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_templates_list() {
  case $1 in
    --columns) offer='list slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script' ;;
    --sort) offer='words slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_templates_get() {
  case $1 in
    --columns) offer='list slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script' ;;
    --sort) offer='words slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script' ;;
    ' ') flags=--markdown repeats=1 takes=('names template') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_drives() {
  case $1 in
    list|ls) path=drives_list ;;
    get|show) path=drives_get ;;
    create) path=drives_create ;;
    update) path=drives_update ;;
    resume) path=drives_resume ;;
    ' ') verbs='list get create update resume' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_drives_list() {
  case $1 in
    --interval) offer=free ;;
    --columns) offer='list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    --sort) offer='words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    ' ') flags='--watch -w --interval' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_drives_get() {
  case $1 in
    --columns) offer='list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    --sort) offer='words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    ' ') repeats=1 takes=('names drive') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_drives_create() {
  case $1 in
    --name|--size) offer=free ;;
    --columns) offer='list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    --sort) offer='words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    ' ') flags='--name --size' takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_drives_update() {
  case $1 in
    --name|--size) offer=free ;;
    --columns) offer='list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    --sort) offer='words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    ' ') flags='--name --size' takes=('names drive') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_drives_resume() {
  case $1 in
    --columns) offer='list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    --sort) offer='words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at' ;;
    ' ') repeats=1 takes=('names drive') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_ssh_keys() {
  case $1 in
    list|ls) path=ssh_keys_list ;;
    get|show) path=ssh_keys_get ;;
    add|create) path=ssh_keys_add ;;
    delete|rm) path=ssh_keys_delete ;;
    ' ') verbs='list get add delete' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_ssh_keys_list() {
  case $1 in
    --columns) offer='list name id type fingerprint is_default created_at updated_at public_key' ;;
    --sort) offer='words name id type fingerprint is_default created_at updated_at public_key' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_ssh_keys_get() {
  case $1 in
    --columns) offer='list name id type fingerprint is_default created_at updated_at public_key' ;;
    --sort) offer='words name id type fingerprint is_default created_at updated_at public_key' ;;
    ' ') repeats=1 takes=('names ssh-key') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_ssh_keys_add() {
  case $1 in
    --name) offer=free ;;
    --columns) offer='list name id type fingerprint is_default created_at updated_at public_key' ;;
    --sort) offer='words name id type fingerprint is_default created_at updated_at public_key' ;;
    ' ') flags='--name --default' takes=(file) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_ssh_keys_delete() {
  case $1 in
    --columns) offer='list name id type fingerprint is_default created_at updated_at public_key' ;;
    --sort) offer='words name id type fingerprint is_default created_at updated_at public_key' ;;
    ' ') repeats=1 takes=('names ssh-key') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_billing() {
  case $1 in
    balance) path=billing_balance ;;
    transactions) path=billing_transactions ;;
    spend) path=billing_spend ;;
    runway) path=billing_runway ;;
    promo) path=billing_promo ;;
    ' ') verbs='balance transactions spend runway promo' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_billing_balance() {
  case $1 in
    --columns) offer='list balance reserved_balance total_balance' ;;
    --sort) offer='words balance reserved_balance total_balance' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_billing_transactions() {
  case $1 in
    --page|--limit|--since|--until) offer=free ;;
    --columns) offer='list created_at type status direction amount description id' ;;
    --sort) offer='words created_at type status direction amount description id' ;;
    --type) offer='list deposit usage_charge bonus refund' ;;
    ' ') flags='--type --page --limit --all --since --until' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_billing_spend() {
  case $1 in
    --since|--until) offer=free ;;
    --columns) offer='list period spent charged refunded deposited bonus other transactions from to' ;;
    --sort) offer='words period spent charged refunded deposited bonus other transactions from to' ;;
    --by) offer='words day week month' ;;
    ' ') flags='--by --since --until' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_billing_runway() {
  case $1 in
    --fail-below) offer=free ;;
    --columns) offer='list balance per_hour hours_left runs_out_at unexplained_per_hour below as_of' ;;
    --sort) offer='words balance per_hour hours_left runs_out_at unexplained_per_hour below as_of' ;;
    ' ') flags=--fail-below ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_billing_promo() {
  case $1 in
    --columns) offer='list added_amount new_balance' ;;
    --sort) offer='words added_amount new_balance' ;;
    ' ') takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_me() {
  case $1 in
    get|show) path=me_get ;;
    update) path=me_update ;;
    set-password) path=me_set_password ;;
    ' ') verbs='get update set-password' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_me_get() {
  case $1 in
    --columns) offer='list name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
    --sort) offer='words name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_me_update() {
  case $1 in
    --name) offer=free ;;
    --columns) offer='list name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
    --sort) offer='words name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
    ' ') flags=--name ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_me_set_password() {
  case $1 in
    --columns) offer='list name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
    --sort) offer='words name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at' ;;
    ' ') flags=--stdin repeats=1 takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_api_keys() {
  case $1 in
    list|ls) path=api_keys_list ;;
    create) path=api_keys_create ;;
    ' ') verbs='list create' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_api_keys_list() {
  case $1 in
    --columns) offer='list name id key_prefix is_active in_use expires_at last_used_at created_at updated_at' ;;
    --sort) offer='words name id key_prefix is_active in_use expires_at last_used_at created_at updated_at' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_api_keys_create() {
  case $1 in
    --key-file) offer=file ;;
    --save-profile) offer='names profile' ;;
    ' ') flags='--key-file --save-profile' takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_profiles() {
  case $1 in
    list|ls) path=profiles_list ;;
    get|show) path=profiles_get ;;
    use) path=profiles_use ;;
    add) path=profiles_add ;;
    set) path=profiles_set ;;
    move) path=profiles_move ;;
    remove|rm) path=profiles_remove ;;
    ' ') verbs='list get use add set move remove' ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_profiles_list() {
  case $1 in
    --columns) offer='list name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --sort) offer='words name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_profiles_get() {
  case $1 in
    --columns) offer='list name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --sort) offer='words name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    ' ') takes=('names profile') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_profiles_use() {
  case $1 in
    --columns) offer='list name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --sort) offer='words name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    ' ') takes=('names profile') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_profiles_add() {
  case $1 in
    --columns) offer='list name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --sort) offer='words name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    ' ') takes=(free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_profiles_set() {
  case $1 in
    --columns) offer='list name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --sort) offer='words name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --max-instances|--max-burn|--notify) offer=free ;;
    ' ') flags='--max-instances --max-burn --require-deadline --no-require-deadline --notify' takes=('names profile') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_profiles_move() {
  case $1 in
    --columns) offer='list name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --sort) offer='words name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --to) offer='words keyring file' ;;
    ' ') flags=--to takes=('names profile') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_profiles_remove() {
  case $1 in
    --columns) offer='list name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --sort) offer='words name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    ' ') takes=('names profile') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_logout() {
  case $1 in
    --columns) offer='list name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    --sort) offer='words name base_url account has_key key_in active max_instances max_burn require_deadline notify' ;;
    ' ') : ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_api() {
  case $1 in
    --input) offer=file ;;
    --raw-field|-f|--field|-F) offer=free ;;
    ' ') flags='--raw-field -f --field -F --input --include -i --paginate' takes=('words GET HEAD POST PUT PATCH DELETE' free) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_commands() {
  case $1 in
    --columns) offer='list command summary usage aliases flags columns exit_codes' ;;
    --sort) offer='words command summary usage aliases flags columns exit_codes' ;;
    ' ') repeats=1 takes=(command) ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_completion() {
  case $1 in
    --columns) offer='list shell file changed script' ;;
    --sort) offer='words shell file changed script' ;;
    ' ') flags='--install --uninstall' takes=('words bash zsh fish powershell') ;;
    *) return 1 ;;
  esac
}

__gpucloud_at_help() {
  case $1 in
    ' ') repeats=1 takes=(command) ;;
    *) return 1 ;;
  esac
}

# Flags of every command.
__gpucloud_everywhere() {
  case $1 in
    --profile) offer='names profile' ;;
    --base-url|--columns|--sort|--query|--timeout) offer=free ;;
    --output|-o) offer='words table json jsonl csv tsv yaml id' ;;
    --color) offer='words auto always never' ;;
    ' ') flags="$flags "'--profile --base-url --output -o --json --quiet -q --columns --sort --query --no-header --csv-safe --color --no-color --no-input --yes -y --timeout --debug --show-secrets --help -h' ;;
    *) return 1 ;;
  esac
}

# Finds the value of the flag $1 at "path", in "offer"; fails for a switch.
__gpucloud_value() {
  __gpucloud_at_$path "$1" || __gpucloud_everywhere "$1"
}

# Finds the cache folder, by gpucloud's own rules.
__gpucloud_folder() {
  local state=${GPUCLOUD_STATE_DIR-} base
  folder=
  if [[ -n $state ]]; then
    [[ $state != /* ]] || folder=$state/cache
    return
  fi
  case ${OSTYPE-} in
    darwin*) base=${HOME-}/Library/Caches ;;
    msys*|cygwin*) base=${LOCALAPPDATA-}; [[ -z $base ]] || folder=$base/gpucloud/cache; return ;;
    *)
      base=${XDG_CACHE_HOME-}
      [[ $base == /* ]] || base=${HOME-}/.cache ;;
  esac
  [[ $base != /* ]] || folder=$base/gpucloud
}

# Finds the owner of the names, in "slot", by gpucloud's own rules.
__gpucloud_slot() {
  local first= profiles=$folder/completion/profiles.tsv
  slot=${profile:-${GPUCLOUD_PROFILE-}}
  if [[ -z $slot ]]; then
    if [[ -f $profiles && -r $profiles ]]; then IFS= read -r first < "$profiles"; fi
    if [[ $first == *"$tab"current ]]; then slot=${first#*$tab}; slot=${slot%%$tab*}; fi
    [[ $slot != sandbox || -z $address${GPUCLOUD_BASE_URL-} ]] || slot=-env
  fi
  if [[ $slot != sandbox && -n $address${GPUCLOUD_BASE_URL-}${GPUCLOUD_API_KEY-} ]]; then
    slot=-env
  fi
  [[ -n $slot && $slot != */* ]]
}

# Offers the names of the kind $1 that begin with "cur". The first line of a file holds all of its
# names: work on each of a hundred lines costs more than everything else.
__gpucloud_names() {
  local folder line name file tab=$'\t' plain=$cur open= slot=
  local -a lines all fitting=()
  case $cur in
    \"*) open=\" plain=${cur#?} ;;
    \'*) open=\' plain=${cur#?} ;;
    *\\*) plain=${cur//\\/} ;;
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
    IFS=$'\n' read -r -d '' -a lines < "$file"
    [[ -n ${lines+set} ]] || return
    fitting=("${lines[@]#*$tab}")
    fitting=("${fitting[@]%%$tab*}")
  else
    IFS=$tab read -r -a fitting < "$file"
    # A file without that first line has another version.
    [[ ${fitting-} != "$1" ]] || return
  fi
  if [[ -n $plain && -n ${fitting+set} ]]; then
    all=()
    for name in "${fitting[@]}"; do
      [[ $name != "$plain"* ]] || all[${#all[@]}]=$name
    done
    fitting=(${all[@]+"${all[@]}"})
  fi
  [[ -n ${fitting+set} ]] || return
  # Plain words are what quotes would leave as it is: all are tried at once.
  IFS=:
  line=":${fitting[*]}"
  printf -v name %q "$line"
  if [[ -n $open || $name != "$line" || $line == *:[#~-]* ]]; then
    for name in "${fitting[@]}"; do __gpucloud_odd "$name"; done
  else
    if [[ $used != / ]]; then
      # Do not offer earlier arguments again.
      line=$line:
      for name in "${typed[@]}"; do line=${line/":$name:"/:}; done
      fitting=(${line#:})
    fi
    if [[ -z ${fitting+set} ]]; then
      :
    elif [[ -z $prefix${COMPREPLY+set} ]]; then
      COMPREPLY=("${fitting[@]}")
    else
      COMPREPLY=(${COMPREPLY[@]+"${COMPREPLY[@]}"} "${fitting[@]/#/$prefix}")
    fi
  fi
  IFS=$' \t\n'
}

# Offers the name $1, quoted as one plain word.
__gpucloud_odd() {
  local word=$1
  case $open in
    \") [[ $word != *[\"\\\`\$\!]* ]] || return ;;
    \') [[ $word != *\'* ]] || return ;;
    *) printf -v word %q "$word" ;;
  esac
  [[ $used == *"/$word/"* ]] || COMPREPLY[${#COMPREPLY[@]}]=$prefix$word
}

# Offers the words of $@ that begin with "cur".
__gpucloud_words() {
  local word all
  if ((${#cur} < 3)); then
    for word; do
      [[ $word != "$cur"* ]] || COMPREPLY[${#COMPREPLY[@]}]=$prefix$word
    done
  else
    # Going from hit to hit is faster than from word to word.
    all=" $*"
    while [[ $all == *" $cur"* ]]; do
      all=${all#*" $cur"}
      COMPREPLY[${#COMPREPLY[@]}]=$prefix$cur${all%% *}
    done
  fi
}

# Turns the offered names into the start of a path on an instance: "trainer:".
__gpucloud_hosts() {
  local name
  local -a names=(${COMPREPLY[@]+"${COMPREPLY[@]}"})
  COMPREPLY=()
  for name in ${names[@]+"${names[@]}"}; do
    # No path begins with these: scp would misread them.
    [[ $name == *[:/@]* ]] || COMPREPLY[${#COMPREPLY[@]}]=$name:
  done
}

# Offers files. If something else is offered too, readline can't tell which words are files. $1
# follows those that are not folders.
__gpucloud_files() {
  local file word plain=${cur//\\/}
  for file in "$plain"*; do
    [[ -e $file ]] || continue
    printf -v word %q "$file"
    if [[ -d $file ]]; then word=$word/; __gpucloud_compopt -o nospace; else word=$word${1-}; fi
    COMPREPLY[${#COMPREPLY[@]}]=$prefix$word
  done
}

__gpucloud_compopt() {
  ((BASH_VERSINFO[0] < 4)) || compopt "$@" 2> /dev/null
}

__gpucloud_offer() {
  local kind=${1%% *} word given
  case $kind in
    names) for word in ${1#* }; do __gpucloud_names "$word"; done ;;
    words) __gpucloud_words ${1#* } ;;
    # Offers nothing, so readline takes over: it completes file names best.
    file) __gpucloud_compopt -o default -o filenames ;;
    # An instance with a colon, or a file; only the instance knows the paths after the colon.
    path)
      [[ ${cur%%/*} != *:* ]] || return
      __gpucloud_names instance
      __gpucloud_hosts
      if [[ -z ${COMPREPLY+set} ]]; then
        __gpucloud_compopt -o default -o filenames
      else
        __gpucloud_compopt -o nospace
        __gpucloud_files ' '
      fi ;;
    list)
      __gpucloud_compopt -o nospace
      given=,
      [[ $cur != *,* ]] || { given=,${cur%,*}, prefix=$prefix${cur%,*}, cur=${cur##*,}; }
      for word in ${1#* }; do
        [[ $given == *",$word,"* ]] || __gpucloud_words "$word"
      done ;;
  esac
}

# Bash has cut the line at "=" and ":" too; joins the parts that have no space between them.
__gpucloud_join() {
  local lead i
  n=0 words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    lead=${line%%[![:space:]]*}
    line=${line:${#lead}}
    [[ ${line:0:${#word}} == "$word" ]] || word=$line
    if [[ -n $lead || $n == 0 ]]; then words[n++]=$word; else words[n-1]+=$word; fi
    line=${line:${#word}}
  done
  part=$word
}

_gpucloud() {
  local IFS=$' \t\n' path= offer= cur= prefix= profile= address= pending= literal= helping=
  local used=/ verbs= flags= repeats= line=${COMP_LINE:0:COMP_POINT}
  local word=${COMP_WORDS[COMP_CWORD]} part whole lead i n=$((COMP_CWORD + 1)) count=0
  local -a words takes typed
  # In a variable, since old shells stumble over such signs in a pattern.
  local breaks='*[=:@<>;|&(]*'
  COMPREPLY=() takes=() typed=() part=$word
  if [[ $line == $breaks || $line != *"$word" ]]; then
    __gpucloud_join
  else
    words=("${COMP_WORDS[@]:0:n}")
  fi

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
      -*)
        if __gpucloud_value "$word" && [[ $offer != '='* ]]; then pending=$word; fi ;;
      *)
        if [[ -n $literal ]] || ! __gpucloud_at_$path "$word"; then
          ((++count))
          used=$used$word/ typed[${#typed[@]}]=$word
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
    __gpucloud_at_$path ' '
    if [[ -z $literal && $cur == -* ]]; then
      __gpucloud_everywhere ' '
      offer="words $flags"
    elif [[ -n $verbs ]]; then
      __gpucloud_words $verbs
      [[ -z $helping || -n $path ]] || __gpucloud_words $helping
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
  # An "@" belongs to the piece after it, as that of a host.
  lead=${lead%@}
  if [[ -n $lead ]]; then
    for ((i = 0; i < ${#COMPREPLY[@]}; i++)); do COMPREPLY[i]=${COMPREPLY[i]#"$lead"}; done
  fi
}

if ((BASH_VERSINFO[0] >= 4)); then
  complete -F _gpucloud gpucloud
else
  complete -o default -F _gpucloud gpucloud
fi
