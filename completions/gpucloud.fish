# fish completion for gpucloud
# Written by "gpucloud completion": do not edit.
# Tab reads names from files in the cache folder of gpucloud, and never runs their text.
# It doesn't start processes or send requests.

# Where the word leads from a place.
function __gpucloud_step -a place word
    switch "$place:$word"
        case ':login'
            echo 'login'
        case ':sandbox'
            echo 'sandbox'
        case ':doctor'
            echo 'doctor'
        case ':instances' ':instance'
            echo 'instances'
        case ':run'
            echo 'run'
        case ':jobs' ':job'
            echo 'jobs'
        case ':status'
            echo 'status'
        case ':audit'
            echo 'audit'
        case ':catalog'
            echo 'catalog'
        case ':templates' ':template'
            echo 'templates'
        case ':drives' ':drive'
            echo 'drives'
        case ':ssh-keys' ':ssh-key'
            echo 'ssh-keys'
        case ':billing'
            echo 'billing'
        case ':me'
            echo 'me'
        case ':api-keys' ':api-key'
            echo 'api-keys'
        case ':profiles' ':profile'
            echo 'profiles'
        case ':logout'
            echo 'logout'
        case ':api'
            echo 'api'
        case ':commands'
            echo 'help'
        case ':completion'
            echo 'completion'
        case ':help'
            echo 'help'
        case 'sandbox:tour'
            echo 'sandbox tour'
        case 'sandbox:catalog'
            echo 'sandbox catalog'
        case 'sandbox:status'
            echo 'sandbox status'
        case 'sandbox:advance'
            echo 'sandbox advance'
        case 'sandbox:deposit'
            echo 'sandbox deposit'
        case 'sandbox:fault'
            echo 'sandbox fault'
        case 'sandbox:gpu'
            echo 'sandbox gpu'
        case 'sandbox:rogue'
            echo 'sandbox rogue'
        case 'sandbox:reset'
            echo 'sandbox reset'
        case 'sandbox:serve'
            echo 'sandbox serve'
        case 'instances:list' 'instances:ls'
            echo 'instances list'
        case 'instances:get' 'instances:show'
            echo 'instances get'
        case 'instances:create'
            echo 'instances create'
        case 'instances:reorder'
            echo 'instances reorder'
        case 'instances:start'
            echo 'instances start'
        case 'instances:stop'
            echo 'instances stop'
        case 'instances:terminate' 'instances:rm'
            echo 'instances terminate'
        case 'instances:events'
            echo 'instances events'
        case 'instances:wait'
            echo 'instances wait'
        case 'instances:ssh'
            echo 'instances ssh'
        case 'instances:scp'
            echo 'instances scp'
        case 'instances:tunnel'
            echo 'instances tunnel'
        case 'instances:ssh-config'
            echo 'instances ssh-config'
        case 'instances:endpoints'
            echo 'instances endpoints'
        case 'instances:secrets'
            echo 'instances secrets'
        case 'instances:open'
            echo 'instances open'
        case 'instances:top'
            echo 'instances top'
        case 'instances:inventory'
            echo 'instances inventory'
        case 'instances:expire'
            echo 'instances expire'
        case 'instances:reap'
            echo 'instances reap'
        case 'instances:recover'
            echo 'instances recover'
        case 'instances:track'
            echo 'instances track'
        case 'instances:untrack'
            echo 'instances untrack'
        case 'jobs:list' 'jobs:ls'
            echo 'jobs list'
        case 'jobs:get' 'jobs:show'
            echo 'jobs get'
        case 'jobs:logs'
            echo 'jobs logs'
        case 'jobs:attach'
            echo 'jobs attach'
        case 'jobs:stop'
            echo 'jobs stop'
        case 'catalog:list' 'catalog:ls'
            echo 'catalog list'
        case 'catalog:add'
            echo 'catalog add'
        case 'catalog:remove' 'catalog:rm'
            echo 'catalog remove'
        case 'templates:list' 'templates:ls'
            echo 'templates list'
        case 'templates:get' 'templates:show'
            echo 'templates get'
        case 'drives:list' 'drives:ls'
            echo 'drives list'
        case 'drives:get' 'drives:show'
            echo 'drives get'
        case 'drives:create'
            echo 'drives create'
        case 'drives:update'
            echo 'drives update'
        case 'drives:resume'
            echo 'drives resume'
        case 'ssh-keys:list' 'ssh-keys:ls'
            echo 'ssh-keys list'
        case 'ssh-keys:get' 'ssh-keys:show'
            echo 'ssh-keys get'
        case 'ssh-keys:add' 'ssh-keys:create'
            echo 'ssh-keys add'
        case 'ssh-keys:delete' 'ssh-keys:rm'
            echo 'ssh-keys delete'
        case 'billing:balance'
            echo 'billing balance'
        case 'billing:transactions'
            echo 'billing transactions'
        case 'billing:spend'
            echo 'billing spend'
        case 'billing:runway'
            echo 'billing runway'
        case 'billing:promo'
            echo 'billing promo'
        case 'me:get' 'me:show'
            echo 'me get'
        case 'me:update'
            echo 'me update'
        case 'me:set-password'
            echo 'me set-password'
        case 'api-keys:list' 'api-keys:ls'
            echo 'api-keys list'
        case 'api-keys:create'
            echo 'api-keys create'
        case 'profiles:list' 'profiles:ls'
            echo 'profiles list'
        case 'profiles:get' 'profiles:show'
            echo 'profiles get'
        case 'profiles:use'
            echo 'profiles use'
        case 'profiles:add'
            echo 'profiles add'
        case 'profiles:set'
            echo 'profiles set'
        case 'profiles:move'
            echo 'profiles move'
        case 'profiles:remove' 'profiles:rm'
            echo 'profiles remove'
        case '*'
            return 1
    end
end

function __gpucloud_verbs -a place
    switch "$place"
        case ''
            printf '%s\t%s\n' 'login' 'Sign in with an API key' 'sandbox' 'Try everything free and offline, on this computer' 'doctor' 'Check this computer, your settings and the connection' 'instances' 'Create, connect to, stop and terminate instances' 'run' 'Rent an instance, run a command, fetch results and terminate it' 'jobs' 'List, follow and stop jobs started by "run"' 'status' 'Show instances, drives, costs and problems' 'audit' 'Find charges and instances unknown to this computer' 'catalog' 'Name offers and images; see the last known prices' 'templates' 'Browse application templates' 'drives' 'Create and manage cloud drives' 'ssh-keys' 'Manage the SSH keys that new instances get' 'billing' 'Show balance and spending; apply promo codes' 'me' 'Show the account; change its name or password' 'api-keys' 'List and create API keys' 'profiles' 'Manage profiles: a base URL and a key each' 'logout' 'Remove the API key from a profile' 'api' 'Send any request to the API' 'commands' 'List every command, flag and exit code as data' 'completion' 'Set up Tab completion for your shell' 'help' 'Show help for a command or topic'
        case 'sandbox'
            printf '%s\t%s\n' 'tour' 'Take a two-minute tour of a complete rental' 'catalog' 'List offers and images, with IDs and prices' 'status' 'Show the time, balance and instances' 'advance' 'Move the clock forward' 'deposit' 'Add play money to the balance' 'fault' 'Cause a failure' 'gpu' 'Set the GPU load of an instance' 'rogue' 'Rent an instance that gpucloud does not track' 'reset' 'Delete all sandbox data' 'serve' 'Serve the sandbox over HTTP on 127.0.0.1'
        case 'instances'
            printf '%s\t%s\n' 'list' 'List instances known to this computer' 'get' 'Show instances in detail' 'create' 'Rent an instance' 'reorder' 'Rent a terminated instance again' 'start' 'Start stopped instances' 'stop' 'Stop instances; their disks are kept' 'terminate' 'Terminate instances; their disks are deleted' 'events' 'Show or follow the event log' 'wait' 'Wait until instances reach a status' 'ssh' 'Open a shell, or run a command' 'scp' 'Copy files to or from an instance' 'tunnel' 'Forward a port to this computer' 'ssh-config' 'Let ssh, rsync and VS Code use instance names' 'endpoints' 'List URLs and ports' 'secrets' 'Show generated passwords and tokens' 'open' 'Open an application in the browser' 'top' 'Show GPU, CPU and memory use' 'inventory' 'Print hosts for Ansible, GNU parallel, MPI or ssh' 'expire' 'Set or remove a deadline' 'reap' 'Terminate instances past their deadline' 'recover' 'Resolve requests with an unknown outcome' 'track' 'Add instances rented elsewhere' 'untrack' 'Remove from the list; billing continues'
        case 'jobs'
            printf '%s\t%s\n' 'list' 'List the jobs that "run" started on this computer' 'get' 'Show one job in detail, with its report' 'logs' 'Print the output of a job' 'attach' 'Follow a job, copy its results and terminate' 'stop' 'Stop a job: copy results and terminate its instance'
        case 'catalog'
            printf '%s\t%s\n' 'list' 'List known offers and images, with their last prices' 'add' 'Name an offer or image' 'remove' 'Remove the name of an offer or image'
        case 'templates'
            printf '%s\t%s\n' 'list' 'List application templates' 'get' 'Show a template and its readme'
        case 'drives'
            printf '%s\t%s\n' 'list' 'List cloud drives' 'get' 'Show one drive in detail' 'create' 'Create a cloud drive; it bills by the hour' 'update' 'Rename a drive or change its billed size' 'resume' 'Resume a SUSPENDED drive after a top-up'
        case 'ssh-keys'
            printf '%s\t%s\n' 'list' 'List SSH keys, newest first' 'get' 'Show an SSH key, with the public key' 'add' 'Add a public SSH key' 'delete' 'Delete SSH keys'
        case 'billing'
            printf '%s\t%s\n' 'balance' 'Show the wallet balance' 'transactions' 'List deposits, charges, bonuses and refunds' 'spend' 'Show spending by day, week or month' 'runway' 'Show how long the balance lasts' 'promo' 'Apply a promo code'
        case 'me'
            printf '%s\t%s\n' 'get' 'Show the account of the API key' 'update' 'Change the account name' 'set-password' 'Change the account password'
        case 'api-keys'
            printf '%s\t%s\n' 'list' 'List API keys, without their secrets' 'create' 'Create an API key and print its secret once'
        case 'profiles'
            printf '%s\t%s\n' 'list' 'List profiles' 'get' 'Show a profile without its key' 'use' 'Set the active profile' 'add' 'Add a profile without a key' 'set' 'Set guards: limits on what the profile may rent' 'move' 'Move a key to the system keyring or the config file' 'remove' 'Remove a profile and its key'
    end
end

function __gpucloud_topics
    printf '%s\n' 'options' 'exit-codes' 'environment' 'output' 'scripting' 'deadlines'
end

function __gpucloud_flags -a place
    switch "$place"
        case ''
            printf '%s\t%s\n' '--version' 'show the version' '-V' 'show the version'
        case 'login'
            printf '%s\t%s\n' '--key-stdin' 'read the key from stdin' '--key-file' 'read the key from a file' '--key-command' 'read the key from this command, run without a shell' '--store' 'where to save the key: keyring, file, command'
        case 'sandbox catalog'
            printf '%s\t%s\n' '--state' 'state file (default: the state of the profile "sandbox")'
        case 'sandbox status'
            printf '%s\t%s\n' '--state' 'state file (default: the state of the profile "sandbox")'
        case 'sandbox advance'
            printf '%s\t%s\n' '--state' 'state file (default: the state of the profile "sandbox")'
        case 'sandbox deposit'
            printf '%s\t%s\n' '--state' 'state file (default: the state of the profile "sandbox")'
        case 'sandbox fault'
            printf '%s\t%s\n' '--state' 'state file (default: the state of the profile "sandbox")'
        case 'sandbox gpu'
            printf '%s\t%s\n' '--state' 'state file (default: the state of the profile "sandbox")'
        case 'sandbox rogue'
            printf '%s\t%s\n' '--state' 'state file (default: the state of the profile "sandbox")'
        case 'sandbox reset'
            printf '%s\t%s\n' '--balance' 'opening balance (default: 10000.00 and a bonus of 500.00)' '--speed' 'virtual seconds per second; 0 stops the clock (default: 1)' '--state' 'state file (default: the state of the profile "sandbox")'
        case 'sandbox serve'
            printf '%s\t%s\n' '--port' 'port to listen on; 0 selects a free port (default: 0)' '--speed' 'virtual seconds per second; 0 stops the clock (default: unchanged)' '--fault' 'failure to cause (repeatable): fail-start, fail-stop, fail-terminate, slow-provisioning, fail-provisioning, fail-running' '--state' 'state file (default: the state of the profile "sandbox")'
        case 'instances list'
            printf '%s\t%s\n' '--all' 'include terminated instances' '-a' 'include terminated instances' '--watch' 'refresh until Ctrl-C; when not in a terminal, print each change' '-w' 'refresh until Ctrl-C; when not in a terminal, print each change' '--interval' 'time between refreshes of --watch'
        case 'instances get'
            printf '%s\t%s\n' '--watch' 'refresh until Ctrl-C; when not in a terminal, print each change' '-w' 'refresh until Ctrl-C; when not in a terminal, print each change' '--interval' 'time between refreshes of --watch'
        case 'instances create'
            printf '%s\t%s\n' '--name' 'same as NAME' '--offer' 'offer (the hardware), by name or ID (repeatable: tried in order)' '--retry-for' 'keep retrying refused offers for this long' '--image' 'base image (the system), by name or ID' '--drive' 'cloud drive to attach, by name or ID' '--ssh-key' 'SSH key, by name, ID or fingerprint (repeatable)' '--template' 'application template, by slug, name or ID' '--docker-image' 'run this container' '--docker-command' 'command to run in the container' '--shm-size' 'shared memory of the container, in GB' '--port' 'publish a port: EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main] (repeatable)' '-p' 'publish a port: EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main] (repeatable)' '--env' 'container variable: KEY=VALUE, or KEY to copy its value (repeatable)' '-e' 'container variable: KEY=VALUE, or KEY to copy its value (repeatable)' '--env-file' 'read variables from a file (repeatable)' '--any-env-key' 'allow nonstandard variable names' '--volume' 'mount HOST_PATH:CONTAINER_PATH (repeatable)' '-v' 'mount HOST_PATH:CONTAINER_PATH (repeatable)' '--max-price' 'terminate the instance at once if its price per hour is higher' '--terminate-after' 'terminate the instance after this time, such as 4h' '--terminate-at' 'terminate the instance at this time, such as 18:00 or 2026-01-31T18:00' '--if-idle' 'terminate the instance after this time without use, such as 45m' '--unenforced' 'allow a deadline or idle rule although nothing enforces it' '--file' 'read the request from a YAML or JSON file; - for stdin' '-f' 'read the request from a YAML or JSON file; - for stdin' '--count' 'create N instances, NAME-1 to NAME-N' '--min-count' 'terminate all new instances if fewer than M succeed (with --count)' '--if-not-exists' 'print the instance with that name if it exists' '--wait' 'wait until the instance is active (--wait=ssh: until SSH responds)' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests' '--dry-run' 'print the request without sending it' '--schema' 'print the JSON Schema of --file'
        case 'instances reorder'
            printf '%s\t%s\n' '--name' 'same as NEW-NAME' '--any-name' 'accept a name that breaks the naming rule' '--max-price' 'terminate the instance at once if its price per hour is higher' '--terminate-after' 'terminate the instance after this time, such as 4h' '--terminate-at' 'terminate the instance at this time, such as 18:00 or 2026-01-31T18:00' '--if-idle' 'terminate the instance after this time without use, such as 45m' '--unenforced' 'allow a deadline or idle rule although nothing enforces it' '--wait' 'wait until the instance is active (--wait=ssh: until SSH responds)' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests'
        case 'instances start'
            printf '%s\t%s\n' '--wait' 'wait until the instance is active (--wait=ssh: until SSH responds)' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests'
        case 'instances stop'
            printf '%s\t%s\n' '--wait' 'wait until the instance is stopped' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests'
        case 'instances terminate'
            printf '%s\t%s\n' '--wait' 'wait until the instance is terminated' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests'
        case 'instances events'
            printf '%s\t%s\n' '--page' 'page to print' '--limit' 'events per page' '--all' 'print the whole log' '--since' 'show events since a date, time or age, such as 10m' '--type' 'info, warning, error, status_change, billing; separate several by commas' '--follow' 'keep printing new events' '-f' 'keep printing new events' '--until' 'follow until all have this status or an event of this type' '--resume' 'continue after the last event recorded in this file, and update the file' '--poll-interval' 'time between --follow requests; up to five times longer when no events arrive'
        case 'instances wait'
            printf '%s\t%s\n' '--for' 'active, stopped, terminated, ssh, or another status' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests'
        case 'instances ssh'
            printf '%s\t%s\n' '--tty' 'allocate a terminal, for a command such as top' '-t' 'allocate a terminal, for a command such as top' '--identity' 'private key file' '-i' 'private key file' '--user' 'user name (default: from the service)' '--ssh-option' 'ssh_config option (repeatable)' '--ssh-arg' 'extra argument for ssh, such as -A (repeatable)' '--port' 'SSH port (default: from the service)' '--wait' 'wait until SSH responds' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests' '--print' 'print the command without running it'
        case 'instances scp'
            printf '%s\t%s\n' '--recursive' 'copy folders and their contents' '-r' 'copy folders and their contents' '--preserve' 'keep modification times and modes' '-p' 'keep modification times and modes' '--identity' 'private key file' '-i' 'private key file' '--user' 'user name (default: from the service)' '--ssh-option' 'ssh_config option (repeatable)' '--ssh-arg' 'extra argument for ssh, such as -A (repeatable)' '--port' 'SSH port (default: from the service)' '--wait' 'wait until SSH responds' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests' '--print' 'print the command without running it'
        case 'instances tunnel'
            printf '%s\t%s\n' '--open' 'open the link in the browser' '--no-reconnect' 'exit when the connection is lost' '--identity' 'private key file' '-i' 'private key file' '--user' 'user name (default: from the service)' '--ssh-option' 'ssh_config option (repeatable)' '--ssh-arg' 'extra argument for ssh, such as -A (repeatable)' '--port' 'SSH port (default: from the service)' '--wait' 'wait until SSH responds' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests' '--print' 'print the command without running it'
        case 'instances ssh-config'
            printf '%s\t%s\n' '--install' 'write the configuration to a file that ~/.ssh/config includes'
        case 'instances open'
            printf '%s\t%s\n' '--print' 'print the link instead of opening it'
        case 'instances top'
            printf '%s\t%s\n' '--watch' 'refresh until Ctrl-C; when not in a terminal, print each change' '-w' 'refresh until Ctrl-C; when not in a terminal, print each change' '--interval' 'time between refreshes of --watch' '--identity' 'private key file' '-i' 'private key file' '--user' 'user name (default: from the service)' '--ssh-option' 'ssh_config option (repeatable)' '--ssh-arg' 'extra argument for ssh, such as -A (repeatable)'
        case 'instances inventory'
            printf '%s\t%s\n' '--format' 'ansible, parallel, hostfile, ssh-config (default: ansible)' '--identity' 'private key file' '-i' 'private key file' '--user' 'user name (default: from the service)' '--ssh-option' 'ssh_config option (repeatable)' '--ssh-arg' 'extra argument for ssh, such as -A (repeatable)'
        case 'instances expire'
            printf '%s\t%s\n' '--after' 'terminate after this time, such as 4h' '--at' 'terminate at this time, such as 18:00 or 2026-01-31T18:00' '--if-idle' 'terminate after this time without use, such as 45m' '--never' 'remove the deadline and the idle rule'
        case 'instances reap'
            printf '%s\t%s\n' '--install' 'schedule this command on this computer' '--uninstall' 'remove this command from the scheduler' '--status' 'show whether deadlines are enforced' '--every' 'how often a scheduler runs this command (default with --install: 5m)'
        case 'instances track'
            printf '%s\t%s\n' '--force' 'add the ID even if the instance can\'t be read'
        case 'run'
            printf '%s\t%s\n' '--name' 'instance name' '--offer' 'offer (the hardware), by name or ID (repeatable: tried in order)' '--retry-for' 'keep retrying refused offers for this long' '--image' 'base image (the system), by name or ID' '--drive' 'cloud drive to attach, by name or ID' '--ssh-key' 'SSH key, by name, ID or fingerprint (repeatable)' '--template' 'application template, by slug, name or ID' '--docker-image' 'run this container' '--docker-command' 'command to run in the container' '--shm-size' 'shared memory of the container, in GB' '--port' 'publish a port: EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main] (repeatable)' '-p' 'publish a port: EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main] (repeatable)' '--env' 'container variable: KEY=VALUE, or KEY to copy its value (repeatable)' '-e' 'container variable: KEY=VALUE, or KEY to copy its value (repeatable)' '--env-file' 'read variables from a file (repeatable)' '--any-env-key' 'allow nonstandard variable names' '--volume' 'mount HOST_PATH:CONTAINER_PATH (repeatable)' '-v' 'mount HOST_PATH:CONTAINER_PATH (repeatable)' '--max-price' 'terminate the instance at once if its price per hour is higher' '--terminate-after' 'terminate the instance after this time, such as 4h' '--terminate-at' 'terminate the instance at this time, such as 18:00 or 2026-01-31T18:00' '--if-idle' 'terminate the instance after this time without use, such as 45m' '--unenforced' 'allow a deadline or idle rule although nothing enforces it' '--file' 'read the request from a YAML or JSON file; - for stdin' '-f' 'read the request from a YAML or JSON file; - for stdin' '--identity' 'private key file' '-i' 'private key file' '--user' 'user name (default: from the service)' '--ssh-option' 'ssh_config option (repeatable)' '--ssh-arg' 'extra argument for ssh, such as -A (repeatable)' '--on' 'run on this existing instance and keep it' '--here' 'run COMMAND on this computer, with files that list the instances' '--count' 'create N instances, NAME-1 to NAME-N' '--min-count' 'terminate all new instances if fewer than M succeed (with --count)' '--sync' 'folder to copy to the instance' '--exclude' 'skip files that match, as in .gitignore (repeatable)' '--fetch' 'copy REMOTE[:LOCAL] back after COMMAND exits (repeatable)' '--fetch-every' 'also copy the --fetch paths this often while COMMAND runs' '--pass-env' 'pass this environment variable to COMMAND (repeatable)' '--keep-on-failure' 'if the job fails, keep the instance for this time, at most until the deadline' '--grace' 'interrupt COMMAND this long before the deadline to copy results (default: a tenth of the time)' '--report' 'write the outcome to a JSON file' '--detach' 'return once the command has started' '--dry-run' 'print the plan without renting' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests'
        case 'jobs logs'
            printf '%s\t%s\n' '--follow' 'print new output until the command exits' '-f' 'print new output until the command exits' '--tail' 'print only the last lines of stdout and stderr' '--identity' 'private key file' '-i' 'private key file' '--user' 'user name (default: from the service)' '--ssh-option' 'ssh_config option (repeatable)' '--ssh-arg' 'extra argument for ssh, such as -A (repeatable)'
        case 'jobs attach'
            printf '%s\t%s\n' '--identity' 'private key file' '-i' 'private key file' '--user' 'user name (default: from the service)' '--ssh-option' 'ssh_config option (repeatable)' '--ssh-arg' 'extra argument for ssh, such as -A (repeatable)' '--report' 'write the outcome to a JSON file' '--wait-timeout' 'time limit for the whole wait' '--poll-interval' 'time between requests'
        case 'jobs stop'
            printf '%s\t%s\n' '--identity' 'private key file' '-i' 'private key file' '--user' 'user name (default: from the service)' '--ssh-option' 'ssh_config option (repeatable)' '--ssh-arg' 'extra argument for ssh, such as -A (repeatable)' '--no-fetch' 'skip copying results'
        case 'status'
            printf '%s\t%s\n' '--all' 'show all instances and drives' '-a' 'show all instances and drives' '--watch' 'refresh until Ctrl-C; when not in a terminal, print each change' '-w' 'refresh until Ctrl-C; when not in a terminal, print each change' '--interval' 'time between refreshes of --watch'
        case 'audit'
            printf '%s\t%s\n' '--exact' 'compare held funds with the known prices of instances'
        case 'catalog list'
            printf '%s\t%s\n' '--kind' 'list only this kind: offer or image'
        case 'catalog add'
            printf '%s\t%s\n' '--name' 'display name'
        case 'templates get'
            printf '%s\t%s\n' '--markdown' 'print only the readme'
        case 'drives list'
            printf '%s\t%s\n' '--watch' 'refresh until Ctrl-C; when not in a terminal, print each change' '-w' 'refresh until Ctrl-C; when not in a terminal, print each change' '--interval' 'time between refreshes of --watch'
        case 'drives create'
            printf '%s\t%s\n' '--name' 'same as NAME' '--size' 'size: 500, 500GB or 2TB (1 TB = 1000 GB)'
        case 'drives update'
            printf '%s\t%s\n' '--name' 'new name' '--size' 'new size: 500, 500GB or 2TB'
        case 'ssh-keys add'
            printf '%s\t%s\n' '--name' 'key name (default: the comment in the key, or the file name)' '--default' 'use the key by default for new instances'
        case 'billing transactions'
            printf '%s\t%s\n' '--type' 'deposit, usage_charge, bonus, refund; separate several by commas' '--page' 'page to print' '--limit' 'transactions per page' '--all' 'print all pages' '--since' 'show transactions since a date, time or age, such as 7d' '--until' 'show transactions until a date or time'
        case 'billing spend'
            printf '%s\t%s\n' '--by' 'day, week, month (default: day)' '--since' 'count transactions since a date, time or age, such as 90d' '--until' 'count transactions until a date or time'
        case 'billing runway'
            printf '%s\t%s\n' '--fail-below' 'minimum duration (24h) or amount in roubles (500); exit with 5 below it'
        case 'me update'
            printf '%s\t%s\n' '--name' 'new name'
        case 'me set-password'
            printf '%s\t%s\n' '--stdin' 'read the current and the new password from stdin, one per line'
        case 'api-keys create'
            printf '%s\t%s\n' '--key-file' 'save the secret to a new file (mode 0600)' '--save-profile' 'save the secret in a profile, with the current base URL'
        case 'profiles set'
            printf '%s\t%s\n' '--max-instances' 'refuse to rent more instances than this; none removes the guard' '--max-burn' 'refuse to rent beyond this many roubles per hour; none removes the guard' '--require-deadline' 'refuse to rent without --terminate-after or --terminate-at' '--no-require-deadline' 'remove the --require-deadline guard' '--notify' 'run this command, without a shell, when a job finishes or an instance is terminated automatically; none removes the command'
        case 'profiles move'
            printf '%s\t%s\n' '--to' 'keyring or file'
        case 'api'
            printf '%s\t%s\n' '--raw-field' 'string field (repeatable)' '-f' 'string field (repeatable)' '--field' 'number, true, false, null, or @FILE for its contents (repeatable)' '-F' 'number, true, false, null, or @FILE for its contents (repeatable)' '--input' 'JSON file to send as the body (- for stdin)' '--include' 'print the status and headers first' '-i' 'print the status and headers first' '--paginate' 'fetch all pages and print one list'
        case 'completion'
            printf '%s\t%s\n' '--install' 'install the script in the shell\'s completion folder' '--uninstall' 'remove the installed script'
    end
    printf '%s\t%s\n' '--profile' 'use this profile (env: GPUCLOUD_PROFILE)' '--base-url' 'use this base URL (env: GPUCLOUD_BASE_URL)' '--output' 'print as table, json, jsonl, csv, tsv, yaml, id (env: GPUCLOUD_OUTPUT)' '-o' 'print as table, json, jsonl, csv, tsv, yaml, id (env: GPUCLOUD_OUTPUT)' '--json' 'same as -o json' '--quiet' 'print only IDs, one per line, without notes; same as -o id' '-q' 'print only IDs, one per line, without notes; same as -o id' '--columns' 'show these columns, separated by commas' '--sort' 'sort rows by this column; -column reverses the order' '--query' 'filter the JSON result with a JMESPath expression' '--no-header' 'omit the header of tables, csv and tsv' '--csv-safe' 'write formulas in csv as text, for spreadsheets' '--color' 'use colours: auto, always, never' '--no-color' 'same as --color never' '--no-input' 'never prompt (env: GPUCLOUD_NO_INPUT)' '--yes' 'answer yes to every confirmation' '-y' 'answer yes to every confirmation' '--timeout' 'time limit for each request (default: 60s)' '--debug' 'print requests and responses, with secrets masked' '--show-secrets' 'show passwords, tokens and environment values' '--help' 'show this help' '-h' 'show this help'
end

function __gpucloud_takes -a place
    switch "$place"
        case 'sandbox advance'
            printf '%s\n' 'free'
        case 'sandbox deposit'
            printf '%s\n' 'free'
        case 'sandbox fault'
            printf '%s\n' 'words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running none'
        case 'sandbox gpu'
            printf '%s\n' 'names instance' 'free'
        case 'sandbox rogue'
            printf '%s\n' 'free'
        case 'instances get'
            printf '%s\n' '+names instance'
        case 'instances create'
            printf '%s\n' 'free'
        case 'instances reorder'
            printf '%s\n' 'names terminated' 'free'
        case 'instances start'
            printf '%s\n' '+names instance'
        case 'instances stop'
            printf '%s\n' '+names instance'
        case 'instances terminate'
            printf '%s\n' '+names instance'
        case 'instances events'
            printf '%s\n' '+names instance'
        case 'instances wait'
            printf '%s\n' '+names instance'
        case 'instances ssh'
            printf '%s\n' 'names instance' '+free'
        case 'instances scp'
            printf '%s\n' '+path'
        case 'instances tunnel'
            printf '%s\n' 'names instance' 'free'
        case 'instances endpoints'
            printf '%s\n' '+names instance'
        case 'instances secrets'
            printf '%s\n' 'names instance' 'free'
        case 'instances open'
            printf '%s\n' 'names instance' 'free'
        case 'instances top'
            printf '%s\n' '+names instance'
        case 'instances inventory'
            printf '%s\n' '+names instance'
        case 'instances expire'
            printf '%s\n' '+names instance'
        case 'instances recover'
            printf '%s\n' '+free'
        case 'instances track'
            printf '%s\n' '+free'
        case 'instances untrack'
            printf '%s\n' '+names instance'
        case 'run'
            printf '%s\n' '+free'
        case 'jobs get'
            printf '%s\n' 'names instance'
        case 'jobs logs'
            printf '%s\n' 'names instance'
        case 'jobs attach'
            printf '%s\n' 'names instance'
        case 'jobs stop'
            printf '%s\n' 'names instance'
        case 'catalog add'
            printf '%s\n' 'words offer image' 'free'
        case 'catalog remove'
            printf '%s\n' 'names offer image'
        case 'templates get'
            printf '%s\n' '+names template'
        case 'drives get'
            printf '%s\n' '+names drive'
        case 'drives create'
            printf '%s\n' 'free'
        case 'drives update'
            printf '%s\n' 'names drive'
        case 'drives resume'
            printf '%s\n' '+names drive'
        case 'ssh-keys get'
            printf '%s\n' '+names ssh-key'
        case 'ssh-keys add'
            printf '%s\n' 'file'
        case 'ssh-keys delete'
            printf '%s\n' '+names ssh-key'
        case 'billing promo'
            printf '%s\n' 'free'
        case 'me set-password'
            printf '%s\n' '+free'
        case 'api-keys create'
            printf '%s\n' 'free'
        case 'profiles get'
            printf '%s\n' 'names profile'
        case 'profiles use'
            printf '%s\n' 'names profile'
        case 'profiles add'
            printf '%s\n' 'free'
        case 'profiles set'
            printf '%s\n' 'names profile'
        case 'profiles move'
            printf '%s\n' 'names profile'
        case 'profiles remove'
            printf '%s\n' 'names profile'
        case 'api'
            printf '%s\n' 'words GET HEAD POST PUT PATCH DELETE' 'free'
        case 'commands'
            printf '%s\n' '+command'
        case 'completion'
            printf '%s\n' 'words bash zsh fish powershell'
        case 'help'
            printf '%s\n' '+command'
    end
end

# Finds the value of a flag at a place; fails for a switch. A leading "=" marks an optional value.
function __gpucloud_value -a place flag
    switch "$place:$flag"
        case 'login:--columns' 'profiles list:--columns' 'profiles get:--columns' 'profiles use:--columns' 'profiles add:--columns' 'profiles set:--columns' 'profiles move:--columns' 'profiles remove:--columns' 'logout:--columns'
            echo 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
        case 'login:--sort' 'profiles list:--sort' 'profiles get:--sort' 'profiles use:--sort' 'profiles add:--sort' 'profiles set:--sort' 'profiles move:--sort' 'profiles remove:--sort' 'logout:--sort'
            echo 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
        case 'login:--key-file' 'sandbox catalog:--state' 'sandbox status:--state' 'sandbox advance:--state' 'sandbox deposit:--state' 'sandbox fault:--state' 'sandbox gpu:--state' 'sandbox rogue:--state' 'sandbox reset:--state' 'sandbox serve:--state' 'instances create:--env-file' 'instances create:--file' 'instances create:-f' 'instances events:--resume' 'instances ssh:--identity' 'instances ssh:-i' 'instances scp:--identity' 'instances scp:-i' 'instances tunnel:--identity' 'instances tunnel:-i' 'instances top:--identity' 'instances top:-i' 'instances inventory:--identity' 'instances inventory:-i' 'run:--env-file' 'run:--file' 'run:-f' 'run:--identity' 'run:-i' 'jobs logs:--identity' 'jobs logs:-i' 'jobs attach:--identity' 'jobs attach:-i' 'jobs stop:--identity' 'jobs stop:-i' 'api-keys create:--key-file' 'api:--input'
            echo 'file'
        case 'login:--key-command' 'sandbox reset:--balance' 'sandbox reset:--speed' 'sandbox serve:--port' 'sandbox serve:--speed' 'instances list:--interval' 'instances get:--interval' 'instances create:--name' 'instances create:--retry-for' 'instances create:--docker-image' 'instances create:--docker-command' 'instances create:--shm-size' 'instances create:--port' 'instances create:-p' 'instances create:--env' 'instances create:-e' 'instances create:--volume' 'instances create:-v' 'instances create:--max-price' 'instances create:--terminate-after' 'instances create:--terminate-at' 'instances create:--if-idle' 'instances create:--count' 'instances create:--min-count' 'instances create:--wait-timeout' 'instances create:--poll-interval' 'instances reorder:--name' 'instances reorder:--max-price' 'instances reorder:--terminate-after' 'instances reorder:--terminate-at' 'instances reorder:--if-idle' 'instances reorder:--wait-timeout' 'instances reorder:--poll-interval' 'instances start:--wait-timeout' 'instances start:--poll-interval' 'instances stop:--wait-timeout' 'instances stop:--poll-interval' 'instances terminate:--wait-timeout' 'instances terminate:--poll-interval' 'instances events:--page' 'instances events:--limit' 'instances events:--since' 'instances events:--poll-interval' 'instances wait:--wait-timeout' 'instances wait:--poll-interval' 'instances ssh:--user' 'instances ssh:--ssh-option' 'instances ssh:--ssh-arg' 'instances ssh:--port' 'instances ssh:--wait-timeout' 'instances ssh:--poll-interval' 'instances scp:--user' 'instances scp:--ssh-option' 'instances scp:--ssh-arg' 'instances scp:--port' 'instances scp:--wait-timeout' 'instances scp:--poll-interval' 'instances tunnel:--user' 'instances tunnel:--ssh-option' 'instances tunnel:--ssh-arg' 'instances tunnel:--port' 'instances tunnel:--wait-timeout' 'instances tunnel:--poll-interval' 'instances top:--interval' 'instances top:--user' 'instances top:--ssh-option' 'instances top:--ssh-arg' 'instances inventory:--user' 'instances inventory:--ssh-option' 'instances inventory:--ssh-arg' 'instances expire:--after' 'instances expire:--at' 'instances expire:--if-idle' 'instances reap:--every' 'run:--name' 'run:--retry-for' 'run:--docker-image' 'run:--docker-command' 'run:--shm-size' 'run:--port' 'run:-p' 'run:--env' 'run:-e' 'run:--volume' 'run:-v' 'run:--max-price' 'run:--terminate-after' 'run:--terminate-at' 'run:--if-idle' 'run:--user' 'run:--ssh-option' 'run:--ssh-arg' 'run:--count' 'run:--min-count' 'run:--exclude' 'run:--fetch' 'run:--fetch-every' 'run:--pass-env' 'run:--keep-on-failure' 'run:--grace' 'run:--wait-timeout' 'run:--poll-interval' 'jobs logs:--tail' 'jobs logs:--user' 'jobs logs:--ssh-option' 'jobs logs:--ssh-arg' 'jobs attach:--user' 'jobs attach:--ssh-option' 'jobs attach:--ssh-arg' 'jobs attach:--wait-timeout' 'jobs attach:--poll-interval' 'jobs stop:--user' 'jobs stop:--ssh-option' 'jobs stop:--ssh-arg' 'status:--interval' 'catalog add:--name' 'drives list:--interval' 'drives create:--name' 'drives create:--size' 'drives update:--name' 'drives update:--size' 'ssh-keys add:--name' 'billing transactions:--page' 'billing transactions:--limit' 'billing transactions:--since' 'billing transactions:--until' 'billing spend:--since' 'billing spend:--until' 'billing runway:--fail-below' 'me update:--name' 'profiles set:--max-instances' 'profiles set:--max-burn' 'profiles set:--notify' 'api:--raw-field' 'api:-f' 'api:--field' 'api:-F'
            echo 'free'
        case 'login:--store'
            echo 'words keyring file command'
        case 'sandbox tour:--columns'
            echo 'list title command'
        case 'sandbox tour:--sort'
            echo 'words title command'
        case 'sandbox serve:--fault'
            echo 'words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running'
        case 'doctor:--columns'
            echo 'list id status message hint'
        case 'doctor:--sort'
            echo 'words id status message hint'
        case 'instances list:--columns'
            echo 'list name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at ends_at if_idle_seconds idle_seconds note unread'
        case 'instances list:--sort'
            echo 'words name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at ends_at if_idle_seconds idle_seconds note unread'
        case 'instances get:--columns' 'instances create:--columns' 'instances reorder:--columns'
            echo 'list name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at'
        case 'instances get:--sort' 'instances create:--sort' 'instances reorder:--sort'
            echo 'words name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at'
        case 'instances create:--offer' 'run:--offer'
            echo 'names offer'
        case 'instances create:--image' 'run:--image'
            echo 'names image'
        case 'instances create:--drive' 'run:--drive'
            echo 'names drive'
        case 'instances create:--ssh-key' 'run:--ssh-key'
            echo 'names ssh-key'
        case 'instances create:--template' 'run:--template'
            echo 'names template'
        case 'instances create:--wait' 'instances reorder:--wait' 'instances start:--wait'
            echo '=words active ssh'
        case 'instances start:--columns' 'instances stop:--columns' 'instances terminate:--columns' 'instances wait:--columns' 'instances track:--columns' 'instances untrack:--columns'
            echo 'list name id status paid_until ends_at'
        case 'instances start:--sort' 'instances stop:--sort' 'instances terminate:--sort' 'instances wait:--sort' 'instances track:--sort' 'instances untrack:--sort'
            echo 'words name id status paid_until ends_at'
        case 'instances events:--columns'
            echo 'list created_at instance type message id instance_id payload'
        case 'instances events:--sort'
            echo 'words created_at instance type message id instance_id payload'
        case 'instances events:--type'
            echo 'list info warning error status_change billing'
        case 'instances events:--until'
            echo 'words active stopped terminated error warning billing'
        case 'instances wait:--for'
            echo 'words active stopped terminated ssh'
        case 'instances ssh:--columns' 'instances scp:--columns'
            echo 'list command'
        case 'instances ssh:--sort' 'instances scp:--sort'
            echo 'words command'
        case 'instances tunnel:--columns'
            echo 'list name endpoint url address local_port remote_port'
        case 'instances tunnel:--sort'
            echo 'words name endpoint url address local_port remote_port'
        case 'instances ssh-config:--columns'
            echo 'list host hostname port user id'
        case 'instances ssh-config:--sort'
            echo 'words host hostname port user id'
        case 'instances endpoints:--columns'
            echo 'list instance name url address protocol is_main port source instance_id'
        case 'instances endpoints:--sort'
            echo 'words instance name url address protocol is_main port source instance_id'
        case 'instances secrets:--columns'
            echo 'list key value'
        case 'instances secrets:--sort'
            echo 'words key value'
        case 'instances top:--columns'
            echo 'list name id status index model utilization_percent vram_used_mib vram_total_mib temperature_c power_w cpu_percent memory_used_mib memory_total_mib disk_used_percent idle_seconds price_per_hour error'
        case 'instances top:--sort'
            echo 'words name id status index model utilization_percent vram_used_mib vram_total_mib temperature_c power_w cpu_percent memory_used_mib memory_total_mib disk_used_percent idle_seconds price_per_hour error'
        case 'instances inventory:--columns'
            echo 'list name hostname port user gpus offer host id'
        case 'instances inventory:--sort'
            echo 'words name hostname port user gpus offer host id'
        case 'instances inventory:--format'
            echo 'words ansible parallel hostfile ssh-config'
        case 'instances expire:--columns'
            echo 'list name id status ends_at if_idle_seconds paid_until'
        case 'instances expire:--sort'
            echo 'words name id status ends_at if_idle_seconds paid_until'
        case 'instances reap:--columns'
            echo 'list name id deadline outcome reason exit_code overdue_seconds'
        case 'instances reap:--sort'
            echo 'words name id deadline outcome reason exit_code overdue_seconds'
        case 'instances recover:--columns'
            echo 'list name outcome id asked_at note operation offer_id uid'
        case 'instances recover:--sort'
            echo 'words name outcome id asked_at note operation offer_id uid'
        case 'run:--columns'
            echo 'list name names command'
        case 'run:--sort'
            echo 'words name names command'
        case 'run:--on'
            echo 'names instance'
        case 'run:--sync' 'run:--report' 'jobs attach:--report'
            echo 'path'
        case 'jobs list:--columns' 'jobs get:--columns'
            echo 'list name status exit_code command started_at seconds cost_at_most ends_at ended_at id'
        case 'jobs list:--sort' 'jobs get:--sort'
            echo 'words name status exit_code command started_at seconds cost_at_most ends_at ended_at id'
        case 'status:--columns'
            echo 'list as_of balance per_hour per_day per_month hours_left runs_out_at unexplained instances drives attention unread'
        case 'status:--sort'
            echo 'words as_of balance per_hour per_day per_month hours_left runs_out_at unexplained instances drives attention unread'
        case 'audit:--columns'
            echo 'list check result per_hour message command'
        case 'audit:--sort'
            echo 'words check result per_hour message command'
        case 'catalog list:--columns' 'catalog add:--columns' 'catalog remove:--columns'
            echo 'list kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version'
        case 'catalog list:--sort' 'catalog add:--sort' 'catalog remove:--sort'
            echo 'words kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version'
        case 'catalog list:--kind'
            echo 'words offer image'
        case 'templates list:--columns' 'templates get:--columns'
            echo 'list slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script'
        case 'templates list:--sort' 'templates get:--sort'
            echo 'words slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script'
        case 'drives list:--columns' 'drives get:--columns' 'drives create:--columns' 'drives update:--columns' 'drives resume:--columns'
            echo 'list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
        case 'drives list:--sort' 'drives get:--sort' 'drives create:--sort' 'drives update:--sort' 'drives resume:--sort'
            echo 'words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
        case 'ssh-keys list:--columns' 'ssh-keys get:--columns' 'ssh-keys add:--columns' 'ssh-keys delete:--columns'
            echo 'list name id type fingerprint is_default created_at updated_at public_key'
        case 'ssh-keys list:--sort' 'ssh-keys get:--sort' 'ssh-keys add:--sort' 'ssh-keys delete:--sort'
            echo 'words name id type fingerprint is_default created_at updated_at public_key'
        case 'billing balance:--columns'
            echo 'list balance reserved_balance total_balance'
        case 'billing balance:--sort'
            echo 'words balance reserved_balance total_balance'
        case 'billing transactions:--columns'
            echo 'list created_at type status direction amount description id'
        case 'billing transactions:--sort'
            echo 'words created_at type status direction amount description id'
        case 'billing transactions:--type'
            echo 'list deposit usage_charge bonus refund'
        case 'billing spend:--columns'
            echo 'list period spent charged refunded deposited bonus other transactions from to'
        case 'billing spend:--sort'
            echo 'words period spent charged refunded deposited bonus other transactions from to'
        case 'billing spend:--by'
            echo 'words day week month'
        case 'billing runway:--columns'
            echo 'list balance per_hour hours_left runs_out_at unexplained_per_hour below as_of'
        case 'billing runway:--sort'
            echo 'words balance per_hour hours_left runs_out_at unexplained_per_hour below as_of'
        case 'billing promo:--columns'
            echo 'list added_amount new_balance'
        case 'billing promo:--sort'
            echo 'words added_amount new_balance'
        case 'me get:--columns' 'me update:--columns' 'me set-password:--columns'
            echo 'list name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at'
        case 'me get:--sort' 'me update:--sort' 'me set-password:--sort'
            echo 'words name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at'
        case 'api-keys list:--columns'
            echo 'list name id key_prefix is_active in_use expires_at last_used_at created_at updated_at'
        case 'api-keys list:--sort'
            echo 'words name id key_prefix is_active in_use expires_at last_used_at created_at updated_at'
        case 'api-keys create:--save-profile'
            echo 'names profile'
        case 'profiles move:--to'
            echo 'words keyring file'
        case 'commands:--columns'
            echo 'list command summary usage aliases flags columns exit_codes'
        case 'commands:--sort'
            echo 'words command summary usage aliases flags columns exit_codes'
        case 'completion:--columns'
            echo 'list shell file changed script'
        case 'completion:--sort'
            echo 'words shell file changed script'
        case '*:--profile'
            echo 'names profile'
        case '*:--base-url' '*:--columns' '*:--sort' '*:--query' '*:--timeout'
            echo 'free'
        case '*:--output' '*:-o'
            echo 'words table json jsonl csv tsv yaml id'
        case '*:--color'
            echo 'words auto always never'
        case '*'
            return 1
    end
end

# Finds the cache folder, by gpucloud's own rules.
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
            set -l parts (string split \t -- $first)
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
        set -l parts (string split \t -- $line)
        # The first line holds all names, for bash.
        test (count $parts) -eq 4; and test -n "$parts[1]"; or continue
        contains -- "$parts[2]" $argv[5..-1]; and continue
        set -l state $parts[4]
        test "$state" != -; or set state $kind
        printf '%s%s\t%s\n' "$before" "$parts[2]" "$state"
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
            set offer (string replace -r '^\+' '' -- $takes[(math $count + 1)])
        else if string match -q '+*' -- "$takes[-1]"
            set offer (string replace -r '^\+' '' -- $takes[-1])
        end
    end
    printf '%s\n' "$offer" "$place" "$profile" "$address" "$before" $used
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
                    string match -r -v '^[^\t]*[:/@]' | string replace \t :\t
            end
        case words
            printf '%s\n' $before$words
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
