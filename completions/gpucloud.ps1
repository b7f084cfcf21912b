# PowerShell completion for gpucloud
# Written by "gpucloud completion": do not edit.
# Tab reads names from files in the cache folder of gpucloud, and never runs their text.
# It doesn't start processes or send requests.

Register-ArgumentCompleter -Native -CommandName gpucloud -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # Tables of their own kind, since a plain one takes -f and -F for the same.
    $steps = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    $verbs = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    $flags = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    $repeats = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    $takes = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    $values = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    $shared = @('--profile', 'use this profile (env: GPUCLOUD_PROFILE)', '--base-url', 'use this base URL (env: GPUCLOUD_BASE_URL)', '--output', 'print as table, json, jsonl, csv, tsv, yaml, id (env: GPUCLOUD_OUTPUT)', '-o', 'print as table, json, jsonl, csv, tsv, yaml, id (env: GPUCLOUD_OUTPUT)', '--json', 'same as -o json', '--quiet', 'print only IDs, one per line, without notes; same as -o id', '-q', 'print only IDs, one per line, without notes; same as -o id', '--columns', 'show these columns, separated by commas', '--sort', 'sort rows by this column; -column reverses the order', '--query', 'filter the JSON result with a JMESPath expression', '--no-header', 'omit the header of tables, csv and tsv', '--csv-safe', 'write formulas in csv as text, for spreadsheets', '--color', 'use colours: auto, always, never', '--no-color', 'same as --color never', '--no-input', 'never prompt (env: GPUCLOUD_NO_INPUT)', '--yes', 'answer yes to every confirmation', '-y', 'answer yes to every confirmation', '--timeout', 'time limit for each request (default: 60s)', '--debug', 'print requests and responses, with secrets masked', '--show-secrets', 'show passwords, tokens and environment values', '--help', 'show this help', '-h', 'show this help')
    $steps[':login'] = 'login'
    $steps[':sandbox'] = 'sandbox'
    $steps[':doctor'] = 'doctor'
    $steps[':instances'] = 'instances'
    $steps[':instance'] = 'instances'
    $steps[':run'] = 'run'
    $steps[':jobs'] = 'jobs'
    $steps[':job'] = 'jobs'
    $steps[':status'] = 'status'
    $steps[':audit'] = 'audit'
    $steps[':catalog'] = 'catalog'
    $steps[':templates'] = 'templates'
    $steps[':template'] = 'templates'
    $steps[':drives'] = 'drives'
    $steps[':drive'] = 'drives'
    $steps[':ssh-keys'] = 'ssh-keys'
    $steps[':ssh-key'] = 'ssh-keys'
    $steps[':billing'] = 'billing'
    $steps[':me'] = 'me'
    $steps[':api-keys'] = 'api-keys'
    $steps[':api-key'] = 'api-keys'
    $steps[':profiles'] = 'profiles'
    $steps[':profile'] = 'profiles'
    $steps[':logout'] = 'logout'
    $steps[':api'] = 'api'
    $steps[':commands'] = 'help'
    $steps[':completion'] = 'completion'
    $steps[':help'] = 'help options exit-codes environment output scripting deadlines'
    $steps['sandbox:tour'] = 'sandbox tour'
    $steps['sandbox:catalog'] = 'sandbox catalog'
    $steps['sandbox:status'] = 'sandbox status'
    $steps['sandbox:advance'] = 'sandbox advance'
    $steps['sandbox:deposit'] = 'sandbox deposit'
    $steps['sandbox:fault'] = 'sandbox fault'
    $steps['sandbox:gpu'] = 'sandbox gpu'
    $steps['sandbox:rogue'] = 'sandbox rogue'
    $steps['sandbox:reset'] = 'sandbox reset'
    $steps['sandbox:serve'] = 'sandbox serve'
    $steps['instances:list'] = 'instances list'
    $steps['instances:ls'] = 'instances list'
    $steps['instances:get'] = 'instances get'
    $steps['instances:show'] = 'instances get'
    $steps['instances:create'] = 'instances create'
    $steps['instances:reorder'] = 'instances reorder'
    $steps['instances:start'] = 'instances start'
    $steps['instances:stop'] = 'instances stop'
    $steps['instances:terminate'] = 'instances terminate'
    $steps['instances:rm'] = 'instances terminate'
    $steps['instances:events'] = 'instances events'
    $steps['instances:wait'] = 'instances wait'
    $steps['instances:ssh'] = 'instances ssh'
    $steps['instances:scp'] = 'instances scp'
    $steps['instances:tunnel'] = 'instances tunnel'
    $steps['instances:ssh-config'] = 'instances ssh-config'
    $steps['instances:endpoints'] = 'instances endpoints'
    $steps['instances:secrets'] = 'instances secrets'
    $steps['instances:open'] = 'instances open'
    $steps['instances:top'] = 'instances top'
    $steps['instances:inventory'] = 'instances inventory'
    $steps['instances:expire'] = 'instances expire'
    $steps['instances:reap'] = 'instances reap'
    $steps['instances:recover'] = 'instances recover'
    $steps['instances:track'] = 'instances track'
    $steps['instances:untrack'] = 'instances untrack'
    $steps['jobs:list'] = 'jobs list'
    $steps['jobs:ls'] = 'jobs list'
    $steps['jobs:get'] = 'jobs get'
    $steps['jobs:show'] = 'jobs get'
    $steps['jobs:logs'] = 'jobs logs'
    $steps['jobs:attach'] = 'jobs attach'
    $steps['jobs:stop'] = 'jobs stop'
    $steps['catalog:list'] = 'catalog list'
    $steps['catalog:ls'] = 'catalog list'
    $steps['catalog:add'] = 'catalog add'
    $steps['catalog:remove'] = 'catalog remove'
    $steps['catalog:rm'] = 'catalog remove'
    $steps['templates:list'] = 'templates list'
    $steps['templates:ls'] = 'templates list'
    $steps['templates:get'] = 'templates get'
    $steps['templates:show'] = 'templates get'
    $steps['drives:list'] = 'drives list'
    $steps['drives:ls'] = 'drives list'
    $steps['drives:get'] = 'drives get'
    $steps['drives:show'] = 'drives get'
    $steps['drives:create'] = 'drives create'
    $steps['drives:update'] = 'drives update'
    $steps['drives:resume'] = 'drives resume'
    $steps['ssh-keys:list'] = 'ssh-keys list'
    $steps['ssh-keys:ls'] = 'ssh-keys list'
    $steps['ssh-keys:get'] = 'ssh-keys get'
    $steps['ssh-keys:show'] = 'ssh-keys get'
    $steps['ssh-keys:add'] = 'ssh-keys add'
    $steps['ssh-keys:create'] = 'ssh-keys add'
    $steps['ssh-keys:delete'] = 'ssh-keys delete'
    $steps['ssh-keys:rm'] = 'ssh-keys delete'
    $steps['billing:balance'] = 'billing balance'
    $steps['billing:transactions'] = 'billing transactions'
    $steps['billing:spend'] = 'billing spend'
    $steps['billing:runway'] = 'billing runway'
    $steps['billing:promo'] = 'billing promo'
    $steps['me:get'] = 'me get'
    $steps['me:show'] = 'me get'
    $steps['me:update'] = 'me update'
    $steps['me:set-password'] = 'me set-password'
    $steps['api-keys:list'] = 'api-keys list'
    $steps['api-keys:ls'] = 'api-keys list'
    $steps['api-keys:create'] = 'api-keys create'
    $steps['profiles:list'] = 'profiles list'
    $steps['profiles:ls'] = 'profiles list'
    $steps['profiles:get'] = 'profiles get'
    $steps['profiles:show'] = 'profiles get'
    $steps['profiles:use'] = 'profiles use'
    $steps['profiles:add'] = 'profiles add'
    $steps['profiles:set'] = 'profiles set'
    $steps['profiles:move'] = 'profiles move'
    $steps['profiles:remove'] = 'profiles remove'
    $steps['profiles:rm'] = 'profiles remove'
    $verbs[''] = @('login', 'Sign in with an API key', 'sandbox', 'Try everything free and offline, on this computer', 'doctor', 'Check this computer, your settings and the connection', 'instances', 'Create, connect to, stop and terminate instances', 'run', 'Rent an instance, run a command, fetch results and terminate it', 'jobs', 'List, follow and stop jobs started by "run"', 'status', 'Show instances, drives, costs and problems', 'audit', 'Find charges and instances unknown to this computer', 'catalog', 'Name offers and images; see the last known prices', 'templates', 'Browse application templates', 'drives', 'Create and manage cloud drives', 'ssh-keys', 'Manage the SSH keys that new instances get', 'billing', 'Show balance and spending; apply promo codes', 'me', 'Show the account; change its name or password', 'api-keys', 'List and create API keys', 'profiles', 'Manage profiles: a base URL and a key each', 'logout', 'Remove the API key from a profile', 'api', 'Send any request to the API', 'commands', 'List every command, flag and exit code as data', 'completion', 'Set up Tab completion for your shell', 'help', 'Show help for a command or topic')
    $flags[''] = @('--version', 'show the version', '-V', 'show the version')
    $flags['login'] = @('--key-stdin', 'read the key from stdin', '--key-file', 'read the key from a file', '--key-command', 'read the key from this command, run without a shell', '--store', 'where to save the key: keyring, file, command')
    $verbs['sandbox'] = @('tour', 'Take a two-minute tour of a complete rental', 'catalog', 'List offers and images, with IDs and prices', 'status', 'Show the time, balance and instances', 'advance', 'Move the clock forward', 'deposit', 'Add play money to the balance', 'fault', 'Cause a failure', 'gpu', 'Set the GPU load of an instance', 'rogue', 'Rent an instance that gpucloud does not track', 'reset', 'Delete all sandbox data', 'serve', 'Serve the sandbox over HTTP on 127.0.0.1')
    $flags['sandbox catalog'] = @('--state', 'state file (default: the state of the profile "sandbox")')
    $flags['sandbox status'] = @('--state', 'state file (default: the state of the profile "sandbox")')
    $flags['sandbox advance'] = @('--state', 'state file (default: the state of the profile "sandbox")')
    $takes['sandbox advance'] = @('free')
    $flags['sandbox deposit'] = @('--state', 'state file (default: the state of the profile "sandbox")')
    $takes['sandbox deposit'] = @('free')
    $flags['sandbox fault'] = @('--state', 'state file (default: the state of the profile "sandbox")')
    $takes['sandbox fault'] = @('words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running none')
    $flags['sandbox gpu'] = @('--state', 'state file (default: the state of the profile "sandbox")')
    $takes['sandbox gpu'] = @('names instance', 'free')
    $flags['sandbox rogue'] = @('--state', 'state file (default: the state of the profile "sandbox")')
    $takes['sandbox rogue'] = @('free')
    $flags['sandbox reset'] = @('--balance', 'opening balance (default: 10000.00 and a bonus of 500.00)', '--speed', 'virtual seconds per second; 0 stops the clock (default: 1)', '--state', 'state file (default: the state of the profile "sandbox")')
    $flags['sandbox serve'] = @('--port', 'port to listen on; 0 selects a free port (default: 0)', '--speed', 'virtual seconds per second; 0 stops the clock (default: unchanged)', '--fault', 'failure to cause (repeatable): fail-start, fail-stop, fail-terminate, slow-provisioning, fail-provisioning, fail-running', '--state', 'state file (default: the state of the profile "sandbox")')
    $verbs['instances'] = @('list', 'List instances known to this computer', 'get', 'Show instances in detail', 'create', 'Rent an instance', 'reorder', 'Rent a terminated instance again', 'start', 'Start stopped instances', 'stop', 'Stop instances; their disks are kept', 'terminate', 'Terminate instances; their disks are deleted', 'events', 'Show or follow the event log', 'wait', 'Wait until instances reach a status', 'ssh', 'Open a shell, or run a command', 'scp', 'Copy files to or from an instance', 'tunnel', 'Forward a port to this computer', 'ssh-config', 'Let ssh, rsync and VS Code use instance names', 'endpoints', 'List URLs and ports', 'secrets', 'Show generated passwords and tokens', 'open', 'Open an application in the browser', 'top', 'Show GPU, CPU and memory use', 'inventory', 'Print hosts for Ansible, GNU parallel, MPI or ssh', 'expire', 'Set or remove a deadline', 'reap', 'Terminate instances past their deadline', 'recover', 'Resolve requests with an unknown outcome', 'track', 'Add instances rented elsewhere', 'untrack', 'Remove from the list; billing continues')
    $flags['instances list'] = @('--all', 'include terminated instances', '-a', 'include terminated instances', '--watch', 'refresh until Ctrl-C; when not in a terminal, print each change', '-w', 'refresh until Ctrl-C; when not in a terminal, print each change', '--interval', 'time between refreshes of --watch')
    $flags['instances get'] = @('--watch', 'refresh until Ctrl-C; when not in a terminal, print each change', '-w', 'refresh until Ctrl-C; when not in a terminal, print each change', '--interval', 'time between refreshes of --watch')
    $repeats['instances get'] = $true
    $takes['instances get'] = @('names instance')
    $flags['instances create'] = @('--name', 'same as NAME', '--offer', 'offer (the hardware), by name or ID (repeatable: tried in order)', '--retry-for', 'keep retrying refused offers for this long', '--image', 'base image (the system), by name or ID', '--drive', 'cloud drive to attach, by name or ID', '--ssh-key', 'SSH key, by name, ID or fingerprint (repeatable)', '--template', 'application template, by slug, name or ID', '--docker-image', 'run this container', '--docker-command', 'command to run in the container', '--shm-size', 'shared memory of the container, in GB', '--port', 'publish a port: EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main] (repeatable)', '-p', 'publish a port: EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main] (repeatable)', '--env', 'container variable: KEY=VALUE, or KEY to copy its value (repeatable)', '-e', 'container variable: KEY=VALUE, or KEY to copy its value (repeatable)', '--env-file', 'read variables from a file (repeatable)', '--any-env-key', 'allow nonstandard variable names', '--volume', 'mount HOST_PATH:CONTAINER_PATH (repeatable)', '-v', 'mount HOST_PATH:CONTAINER_PATH (repeatable)', '--max-price', 'terminate the instance at once if its price per hour is higher', '--terminate-after', 'terminate the instance after this time, such as 4h', '--terminate-at', 'terminate the instance at this time, such as 18:00 or 2026-01-31T18:00', '--if-idle', 'terminate the instance after this time without use, such as 45m', '--unenforced', 'allow a deadline or idle rule although nothing enforces it', '--file', 'read the request from a YAML or JSON file; - for stdin', '-f', 'read the request from a YAML or JSON file; - for stdin', '--count', 'create N instances, NAME-1 to NAME-N', '--min-count', 'terminate all new instances if fewer than M succeed (with --count)', '--if-not-exists', 'print the instance with that name if it exists', '--wait', 'wait until the instance is active (--wait=ssh: until SSH responds)', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests', '--dry-run', 'print the request without sending it', '--schema', 'print the JSON Schema of --file')
    $takes['instances create'] = @('free')
    $flags['instances reorder'] = @('--name', 'same as NEW-NAME', '--any-name', 'accept a name that breaks the naming rule', '--max-price', 'terminate the instance at once if its price per hour is higher', '--terminate-after', 'terminate the instance after this time, such as 4h', '--terminate-at', 'terminate the instance at this time, such as 18:00 or 2026-01-31T18:00', '--if-idle', 'terminate the instance after this time without use, such as 45m', '--unenforced', 'allow a deadline or idle rule although nothing enforces it', '--wait', 'wait until the instance is active (--wait=ssh: until SSH responds)', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests')
    $takes['instances reorder'] = @('names terminated', 'free')
    $flags['instances start'] = @('--wait', 'wait until the instance is active (--wait=ssh: until SSH responds)', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests')
    $repeats['instances start'] = $true
    $takes['instances start'] = @('names instance')
    $flags['instances stop'] = @('--wait', 'wait until the instance is stopped', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests')
    $repeats['instances stop'] = $true
    $takes['instances stop'] = @('names instance')
    $flags['instances terminate'] = @('--wait', 'wait until the instance is terminated', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests')
    $repeats['instances terminate'] = $true
    $takes['instances terminate'] = @('names instance')
    $flags['instances events'] = @('--page', 'page to print', '--limit', 'events per page', '--all', 'print the whole log', '--since', 'show events since a date, time or age, such as 10m', '--type', 'info, warning, error, status_change, billing; separate several by commas', '--follow', 'keep printing new events', '-f', 'keep printing new events', '--until', 'follow until all have this status or an event of this type', '--resume', 'continue after the last event recorded in this file, and update the file', '--poll-interval', 'time between --follow requests; up to five times longer when no events arrive')
    $repeats['instances events'] = $true
    $takes['instances events'] = @('names instance')
    $flags['instances wait'] = @('--for', 'active, stopped, terminated, ssh, or another status', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests')
    $repeats['instances wait'] = $true
    $takes['instances wait'] = @('names instance')
    $flags['instances ssh'] = @('--tty', 'allocate a terminal, for a command such as top', '-t', 'allocate a terminal, for a command such as top', '--identity', 'private key file', '-i', 'private key file', '--user', 'user name (default: from the service)', '--ssh-option', 'ssh_config option (repeatable)', '--ssh-arg', 'extra argument for ssh, such as -A (repeatable)', '--port', 'SSH port (default: from the service)', '--wait', 'wait until SSH responds', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests', '--print', 'print the command without running it')
    $repeats['instances ssh'] = $true
    $takes['instances ssh'] = @('names instance', 'free')
    $flags['instances scp'] = @('--recursive', 'copy folders and their contents', '-r', 'copy folders and their contents', '--preserve', 'keep modification times and modes', '-p', 'keep modification times and modes', '--identity', 'private key file', '-i', 'private key file', '--user', 'user name (default: from the service)', '--ssh-option', 'ssh_config option (repeatable)', '--ssh-arg', 'extra argument for ssh, such as -A (repeatable)', '--port', 'SSH port (default: from the service)', '--wait', 'wait until SSH responds', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests', '--print', 'print the command without running it')
    $repeats['instances scp'] = $true
    $takes['instances scp'] = @('path')
    $flags['instances tunnel'] = @('--open', 'open the link in the browser', '--no-reconnect', 'exit when the connection is lost', '--identity', 'private key file', '-i', 'private key file', '--user', 'user name (default: from the service)', '--ssh-option', 'ssh_config option (repeatable)', '--ssh-arg', 'extra argument for ssh, such as -A (repeatable)', '--port', 'SSH port (default: from the service)', '--wait', 'wait until SSH responds', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests', '--print', 'print the command without running it')
    $takes['instances tunnel'] = @('names instance', 'free')
    $flags['instances ssh-config'] = @('--install', 'write the configuration to a file that ~/.ssh/config includes')
    $repeats['instances endpoints'] = $true
    $takes['instances endpoints'] = @('names instance')
    $takes['instances secrets'] = @('names instance', 'free')
    $flags['instances open'] = @('--print', 'print the link instead of opening it')
    $takes['instances open'] = @('names instance', 'free')
    $flags['instances top'] = @('--watch', 'refresh until Ctrl-C; when not in a terminal, print each change', '-w', 'refresh until Ctrl-C; when not in a terminal, print each change', '--interval', 'time between refreshes of --watch', '--identity', 'private key file', '-i', 'private key file', '--user', 'user name (default: from the service)', '--ssh-option', 'ssh_config option (repeatable)', '--ssh-arg', 'extra argument for ssh, such as -A (repeatable)')
    $repeats['instances top'] = $true
    $takes['instances top'] = @('names instance')
    $flags['instances inventory'] = @('--format', 'ansible, parallel, hostfile, ssh-config (default: ansible)', '--identity', 'private key file', '-i', 'private key file', '--user', 'user name (default: from the service)', '--ssh-option', 'ssh_config option (repeatable)', '--ssh-arg', 'extra argument for ssh, such as -A (repeatable)')
    $repeats['instances inventory'] = $true
    $takes['instances inventory'] = @('names instance')
    $flags['instances expire'] = @('--after', 'terminate after this time, such as 4h', '--at', 'terminate at this time, such as 18:00 or 2026-01-31T18:00', '--if-idle', 'terminate after this time without use, such as 45m', '--never', 'remove the deadline and the idle rule')
    $repeats['instances expire'] = $true
    $takes['instances expire'] = @('names instance')
    $flags['instances reap'] = @('--install', 'schedule this command on this computer', '--uninstall', 'remove this command from the scheduler', '--status', 'show whether deadlines are enforced', '--every', 'how often a scheduler runs this command (default with --install: 5m)')
    $repeats['instances recover'] = $true
    $takes['instances recover'] = @('free')
    $flags['instances track'] = @('--force', 'add the ID even if the instance can''t be read')
    $repeats['instances track'] = $true
    $takes['instances track'] = @('free')
    $repeats['instances untrack'] = $true
    $takes['instances untrack'] = @('names instance')
    $flags['run'] = @('--name', 'instance name', '--offer', 'offer (the hardware), by name or ID (repeatable: tried in order)', '--retry-for', 'keep retrying refused offers for this long', '--image', 'base image (the system), by name or ID', '--drive', 'cloud drive to attach, by name or ID', '--ssh-key', 'SSH key, by name, ID or fingerprint (repeatable)', '--template', 'application template, by slug, name or ID', '--docker-image', 'run this container', '--docker-command', 'command to run in the container', '--shm-size', 'shared memory of the container, in GB', '--port', 'publish a port: EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main] (repeatable)', '-p', 'publish a port: EXTERNAL:INTERNAL[/tcp|udp][,name=web][,main] (repeatable)', '--env', 'container variable: KEY=VALUE, or KEY to copy its value (repeatable)', '-e', 'container variable: KEY=VALUE, or KEY to copy its value (repeatable)', '--env-file', 'read variables from a file (repeatable)', '--any-env-key', 'allow nonstandard variable names', '--volume', 'mount HOST_PATH:CONTAINER_PATH (repeatable)', '-v', 'mount HOST_PATH:CONTAINER_PATH (repeatable)', '--max-price', 'terminate the instance at once if its price per hour is higher', '--terminate-after', 'terminate the instance after this time, such as 4h', '--terminate-at', 'terminate the instance at this time, such as 18:00 or 2026-01-31T18:00', '--if-idle', 'terminate the instance after this time without use, such as 45m', '--unenforced', 'allow a deadline or idle rule although nothing enforces it', '--file', 'read the request from a YAML or JSON file; - for stdin', '-f', 'read the request from a YAML or JSON file; - for stdin', '--identity', 'private key file', '-i', 'private key file', '--user', 'user name (default: from the service)', '--ssh-option', 'ssh_config option (repeatable)', '--ssh-arg', 'extra argument for ssh, such as -A (repeatable)', '--on', 'run on this existing instance and keep it', '--here', 'run COMMAND on this computer, with files that list the instances', '--count', 'create N instances, NAME-1 to NAME-N', '--min-count', 'terminate all new instances if fewer than M succeed (with --count)', '--sync', 'folder to copy to the instance', '--exclude', 'skip files that match, as in .gitignore (repeatable)', '--fetch', 'copy REMOTE[:LOCAL] back after COMMAND exits (repeatable)', '--fetch-every', 'also copy the --fetch paths this often while COMMAND runs', '--pass-env', 'pass this environment variable to COMMAND (repeatable)', '--keep-on-failure', 'if the job fails, keep the instance for this time, at most until the deadline', '--grace', 'interrupt COMMAND this long before the deadline to copy results (default: a tenth of the time)', '--report', 'write the outcome to a JSON file', '--detach', 'return once the command has started', '--dry-run', 'print the plan without renting', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests')
    $repeats['run'] = $true
    $takes['run'] = @('free')
    $verbs['jobs'] = @('list', 'List the jobs that "run" started on this computer', 'get', 'Show one job in detail, with its report', 'logs', 'Print the output of a job', 'attach', 'Follow a job, copy its results and terminate', 'stop', 'Stop a job: copy results and terminate its instance')
    $takes['jobs get'] = @('names instance')
    $flags['jobs logs'] = @('--follow', 'print new output until the command exits', '-f', 'print new output until the command exits', '--tail', 'print only the last lines of stdout and stderr', '--identity', 'private key file', '-i', 'private key file', '--user', 'user name (default: from the service)', '--ssh-option', 'ssh_config option (repeatable)', '--ssh-arg', 'extra argument for ssh, such as -A (repeatable)')
    $takes['jobs logs'] = @('names instance')
    $flags['jobs attach'] = @('--identity', 'private key file', '-i', 'private key file', '--user', 'user name (default: from the service)', '--ssh-option', 'ssh_config option (repeatable)', '--ssh-arg', 'extra argument for ssh, such as -A (repeatable)', '--report', 'write the outcome to a JSON file', '--wait-timeout', 'time limit for the whole wait', '--poll-interval', 'time between requests')
    $takes['jobs attach'] = @('names instance')
    $flags['jobs stop'] = @('--identity', 'private key file', '-i', 'private key file', '--user', 'user name (default: from the service)', '--ssh-option', 'ssh_config option (repeatable)', '--ssh-arg', 'extra argument for ssh, such as -A (repeatable)', '--no-fetch', 'skip copying results')
    $takes['jobs stop'] = @('names instance')
    $flags['status'] = @('--all', 'show all instances and drives', '-a', 'show all instances and drives', '--watch', 'refresh until Ctrl-C; when not in a terminal, print each change', '-w', 'refresh until Ctrl-C; when not in a terminal, print each change', '--interval', 'time between refreshes of --watch')
    $flags['audit'] = @('--exact', 'compare held funds with the known prices of instances')
    $verbs['catalog'] = @('list', 'List known offers and images, with their last prices', 'add', 'Name an offer or image', 'remove', 'Remove the name of an offer or image')
    $flags['catalog list'] = @('--kind', 'list only this kind: offer or image')
    $flags['catalog add'] = @('--name', 'display name')
    $takes['catalog add'] = @('words offer image', 'free')
    $takes['catalog remove'] = @('names offer image')
    $verbs['templates'] = @('list', 'List application templates', 'get', 'Show a template and its readme')
    $flags['templates get'] = @('--markdown', 'print only the readme')
    $repeats['templates get'] = $true
    $takes['templates get'] = @('names template')
    $verbs['drives'] = @('list', 'List cloud drives', 'get', 'Show one drive in detail', 'create', 'Create a cloud drive; it bills by the hour', 'update', 'Rename a drive or change its billed size', 'resume', 'Resume a SUSPENDED drive after a top-up')
    $flags['drives list'] = @('--watch', 'refresh until Ctrl-C; when not in a terminal, print each change', '-w', 'refresh until Ctrl-C; when not in a terminal, print each change', '--interval', 'time between refreshes of --watch')
    $repeats['drives get'] = $true
    $takes['drives get'] = @('names drive')
    $flags['drives create'] = @('--name', 'same as NAME', '--size', 'size: 500, 500GB or 2TB (1 TB = 1000 GB)')
    $takes['drives create'] = @('free')
    $flags['drives update'] = @('--name', 'new name', '--size', 'new size: 500, 500GB or 2TB')
    $takes['drives update'] = @('names drive')
    $repeats['drives resume'] = $true
    $takes['drives resume'] = @('names drive')
    $verbs['ssh-keys'] = @('list', 'List SSH keys, newest first', 'get', 'Show an SSH key, with the public key', 'add', 'Add a public SSH key', 'delete', 'Delete SSH keys')
    $repeats['ssh-keys get'] = $true
    $takes['ssh-keys get'] = @('names ssh-key')
    $flags['ssh-keys add'] = @('--name', 'key name (default: the comment in the key, or the file name)', '--default', 'use the key by default for new instances')
    $takes['ssh-keys add'] = @('file')
    $repeats['ssh-keys delete'] = $true
    $takes['ssh-keys delete'] = @('names ssh-key')
    $verbs['billing'] = @('balance', 'Show the wallet balance', 'transactions', 'List deposits, charges, bonuses and refunds', 'spend', 'Show spending by day, week or month', 'runway', 'Show how long the balance lasts', 'promo', 'Apply a promo code')
    $flags['billing transactions'] = @('--type', 'deposit, usage_charge, bonus, refund; separate several by commas', '--page', 'page to print', '--limit', 'transactions per page', '--all', 'print all pages', '--since', 'show transactions since a date, time or age, such as 7d', '--until', 'show transactions until a date or time')
    $flags['billing spend'] = @('--by', 'day, week, month (default: day)', '--since', 'count transactions since a date, time or age, such as 90d', '--until', 'count transactions until a date or time')
    $flags['billing runway'] = @('--fail-below', 'minimum duration (24h) or amount in roubles (500); exit with 5 below it')
    $takes['billing promo'] = @('free')
    $verbs['me'] = @('get', 'Show the account of the API key', 'update', 'Change the account name', 'set-password', 'Change the account password')
    $flags['me update'] = @('--name', 'new name')
    $flags['me set-password'] = @('--stdin', 'read the current and the new password from stdin, one per line')
    $repeats['me set-password'] = $true
    $takes['me set-password'] = @('free')
    $verbs['api-keys'] = @('list', 'List API keys, without their secrets', 'create', 'Create an API key and print its secret once')
    $flags['api-keys create'] = @('--key-file', 'save the secret to a new file (mode 0600)', '--save-profile', 'save the secret in a profile, with the current base URL')
    $takes['api-keys create'] = @('free')
    $verbs['profiles'] = @('list', 'List profiles', 'get', 'Show a profile without its key', 'use', 'Set the active profile', 'add', 'Add a profile without a key', 'set', 'Set guards: limits on what the profile may rent', 'move', 'Move a key to the system keyring or the config file', 'remove', 'Remove a profile and its key')
    $takes['profiles get'] = @('names profile')
    $takes['profiles use'] = @('names profile')
    $takes['profiles add'] = @('free')
    $flags['profiles set'] = @('--max-instances', 'refuse to rent more instances than this; none removes the guard', '--max-burn', 'refuse to rent beyond this many roubles per hour; none removes the guard', '--require-deadline', 'refuse to rent without --terminate-after or --terminate-at', '--no-require-deadline', 'remove the --require-deadline guard', '--notify', 'run this command, without a shell, when a job finishes or an instance is terminated automatically; none removes the command')
    $takes['profiles set'] = @('names profile')
    $flags['profiles move'] = @('--to', 'keyring or file')
    $takes['profiles move'] = @('names profile')
    $takes['profiles remove'] = @('names profile')
    $flags['api'] = @('--raw-field', 'string field (repeatable)', '-f', 'string field (repeatable)', '--field', 'number, true, false, null, or @FILE for its contents (repeatable)', '-F', 'number, true, false, null, or @FILE for its contents (repeatable)', '--input', 'JSON file to send as the body (- for stdin)', '--include', 'print the status and headers first', '-i', 'print the status and headers first', '--paginate', 'fetch all pages and print one list')
    $takes['api'] = @('words GET HEAD POST PUT PATCH DELETE', 'free')
    $repeats['commands'] = $true
    $takes['commands'] = @('command')
    $flags['completion'] = @('--install', 'install the script in the shell''s completion folder', '--uninstall', 'remove the installed script')
    $takes['completion'] = @('words bash zsh fish powershell')
    $repeats['help'] = $true
    $takes['help'] = @('command')
    $values['login:--columns'] = 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles list:--columns'] = 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles get:--columns'] = 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles use:--columns'] = 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles add:--columns'] = 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles set:--columns'] = 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles move:--columns'] = 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles remove:--columns'] = 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['logout:--columns'] = 'list name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['login:--sort'] = 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles list:--sort'] = 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles get:--sort'] = 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles use:--sort'] = 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles add:--sort'] = 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles set:--sort'] = 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles move:--sort'] = 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['profiles remove:--sort'] = 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['logout:--sort'] = 'words name base_url account has_key key_in active max_instances max_burn require_deadline notify'
    $values['login:--key-file'] = 'file'
    $values['sandbox catalog:--state'] = 'file'
    $values['sandbox status:--state'] = 'file'
    $values['sandbox advance:--state'] = 'file'
    $values['sandbox deposit:--state'] = 'file'
    $values['sandbox fault:--state'] = 'file'
    $values['sandbox gpu:--state'] = 'file'
    $values['sandbox rogue:--state'] = 'file'
    $values['sandbox reset:--state'] = 'file'
    $values['sandbox serve:--state'] = 'file'
    $values['instances create:--env-file'] = 'file'
    $values['instances create:--file'] = 'file'
    $values['instances create:-f'] = 'file'
    $values['instances events:--resume'] = 'file'
    $values['instances ssh:--identity'] = 'file'
    $values['instances ssh:-i'] = 'file'
    $values['instances scp:--identity'] = 'file'
    $values['instances scp:-i'] = 'file'
    $values['instances tunnel:--identity'] = 'file'
    $values['instances tunnel:-i'] = 'file'
    $values['instances top:--identity'] = 'file'
    $values['instances top:-i'] = 'file'
    $values['instances inventory:--identity'] = 'file'
    $values['instances inventory:-i'] = 'file'
    $values['run:--env-file'] = 'file'
    $values['run:--file'] = 'file'
    $values['run:-f'] = 'file'
    $values['run:--identity'] = 'file'
    $values['run:-i'] = 'file'
    $values['jobs logs:--identity'] = 'file'
    $values['jobs logs:-i'] = 'file'
    $values['jobs attach:--identity'] = 'file'
    $values['jobs attach:-i'] = 'file'
    $values['jobs stop:--identity'] = 'file'
    $values['jobs stop:-i'] = 'file'
    $values['api-keys create:--key-file'] = 'file'
    $values['api:--input'] = 'file'
    $values['login:--key-command'] = 'free'
    $values['sandbox reset:--balance'] = 'free'
    $values['sandbox reset:--speed'] = 'free'
    $values['sandbox serve:--port'] = 'free'
    $values['sandbox serve:--speed'] = 'free'
    $values['instances list:--interval'] = 'free'
    $values['instances get:--interval'] = 'free'
    $values['instances create:--name'] = 'free'
    $values['instances create:--retry-for'] = 'free'
    $values['instances create:--docker-image'] = 'free'
    $values['instances create:--docker-command'] = 'free'
    $values['instances create:--shm-size'] = 'free'
    $values['instances create:--port'] = 'free'
    $values['instances create:-p'] = 'free'
    $values['instances create:--env'] = 'free'
    $values['instances create:-e'] = 'free'
    $values['instances create:--volume'] = 'free'
    $values['instances create:-v'] = 'free'
    $values['instances create:--max-price'] = 'free'
    $values['instances create:--terminate-after'] = 'free'
    $values['instances create:--terminate-at'] = 'free'
    $values['instances create:--if-idle'] = 'free'
    $values['instances create:--count'] = 'free'
    $values['instances create:--min-count'] = 'free'
    $values['instances create:--wait-timeout'] = 'free'
    $values['instances create:--poll-interval'] = 'free'
    $values['instances reorder:--name'] = 'free'
    $values['instances reorder:--max-price'] = 'free'
    $values['instances reorder:--terminate-after'] = 'free'
    $values['instances reorder:--terminate-at'] = 'free'
    $values['instances reorder:--if-idle'] = 'free'
    $values['instances reorder:--wait-timeout'] = 'free'
    $values['instances reorder:--poll-interval'] = 'free'
    $values['instances start:--wait-timeout'] = 'free'
    $values['instances start:--poll-interval'] = 'free'
    $values['instances stop:--wait-timeout'] = 'free'
    $values['instances stop:--poll-interval'] = 'free'
    $values['instances terminate:--wait-timeout'] = 'free'
    $values['instances terminate:--poll-interval'] = 'free'
    $values['instances events:--page'] = 'free'
    $values['instances events:--limit'] = 'free'
    $values['instances events:--since'] = 'free'
    $values['instances events:--poll-interval'] = 'free'
    $values['instances wait:--wait-timeout'] = 'free'
    $values['instances wait:--poll-interval'] = 'free'
    $values['instances ssh:--user'] = 'free'
    $values['instances ssh:--ssh-option'] = 'free'
    $values['instances ssh:--ssh-arg'] = 'free'
    $values['instances ssh:--port'] = 'free'
    $values['instances ssh:--wait-timeout'] = 'free'
    $values['instances ssh:--poll-interval'] = 'free'
    $values['instances scp:--user'] = 'free'
    $values['instances scp:--ssh-option'] = 'free'
    $values['instances scp:--ssh-arg'] = 'free'
    $values['instances scp:--port'] = 'free'
    $values['instances scp:--wait-timeout'] = 'free'
    $values['instances scp:--poll-interval'] = 'free'
    $values['instances tunnel:--user'] = 'free'
    $values['instances tunnel:--ssh-option'] = 'free'
    $values['instances tunnel:--ssh-arg'] = 'free'
    $values['instances tunnel:--port'] = 'free'
    $values['instances tunnel:--wait-timeout'] = 'free'
    $values['instances tunnel:--poll-interval'] = 'free'
    $values['instances top:--interval'] = 'free'
    $values['instances top:--user'] = 'free'
    $values['instances top:--ssh-option'] = 'free'
    $values['instances top:--ssh-arg'] = 'free'
    $values['instances inventory:--user'] = 'free'
    $values['instances inventory:--ssh-option'] = 'free'
    $values['instances inventory:--ssh-arg'] = 'free'
    $values['instances expire:--after'] = 'free'
    $values['instances expire:--at'] = 'free'
    $values['instances expire:--if-idle'] = 'free'
    $values['instances reap:--every'] = 'free'
    $values['run:--name'] = 'free'
    $values['run:--retry-for'] = 'free'
    $values['run:--docker-image'] = 'free'
    $values['run:--docker-command'] = 'free'
    $values['run:--shm-size'] = 'free'
    $values['run:--port'] = 'free'
    $values['run:-p'] = 'free'
    $values['run:--env'] = 'free'
    $values['run:-e'] = 'free'
    $values['run:--volume'] = 'free'
    $values['run:-v'] = 'free'
    $values['run:--max-price'] = 'free'
    $values['run:--terminate-after'] = 'free'
    $values['run:--terminate-at'] = 'free'
    $values['run:--if-idle'] = 'free'
    $values['run:--user'] = 'free'
    $values['run:--ssh-option'] = 'free'
    $values['run:--ssh-arg'] = 'free'
    $values['run:--count'] = 'free'
    $values['run:--min-count'] = 'free'
    $values['run:--exclude'] = 'free'
    $values['run:--fetch'] = 'free'
    $values['run:--fetch-every'] = 'free'
    $values['run:--pass-env'] = 'free'
    $values['run:--keep-on-failure'] = 'free'
    $values['run:--grace'] = 'free'
    $values['run:--wait-timeout'] = 'free'
    $values['run:--poll-interval'] = 'free'
    $values['jobs logs:--tail'] = 'free'
    $values['jobs logs:--user'] = 'free'
    $values['jobs logs:--ssh-option'] = 'free'
    $values['jobs logs:--ssh-arg'] = 'free'
    $values['jobs attach:--user'] = 'free'
    $values['jobs attach:--ssh-option'] = 'free'
    $values['jobs attach:--ssh-arg'] = 'free'
    $values['jobs attach:--wait-timeout'] = 'free'
    $values['jobs attach:--poll-interval'] = 'free'
    $values['jobs stop:--user'] = 'free'
    $values['jobs stop:--ssh-option'] = 'free'
    $values['jobs stop:--ssh-arg'] = 'free'
    $values['status:--interval'] = 'free'
    $values['catalog add:--name'] = 'free'
    $values['drives list:--interval'] = 'free'
    $values['drives create:--name'] = 'free'
    $values['drives create:--size'] = 'free'
    $values['drives update:--name'] = 'free'
    $values['drives update:--size'] = 'free'
    $values['ssh-keys add:--name'] = 'free'
    $values['billing transactions:--page'] = 'free'
    $values['billing transactions:--limit'] = 'free'
    $values['billing transactions:--since'] = 'free'
    $values['billing transactions:--until'] = 'free'
    $values['billing spend:--since'] = 'free'
    $values['billing spend:--until'] = 'free'
    $values['billing runway:--fail-below'] = 'free'
    $values['me update:--name'] = 'free'
    $values['profiles set:--max-instances'] = 'free'
    $values['profiles set:--max-burn'] = 'free'
    $values['profiles set:--notify'] = 'free'
    $values['api:--raw-field'] = 'free'
    $values['api:-f'] = 'free'
    $values['api:--field'] = 'free'
    $values['api:-F'] = 'free'
    $values['login:--store'] = 'words keyring file command'
    $values['sandbox tour:--columns'] = 'list title command'
    $values['sandbox tour:--sort'] = 'words title command'
    $values['sandbox serve:--fault'] = 'words fail-start fail-stop fail-terminate slow-provisioning fail-provisioning fail-running'
    $values['doctor:--columns'] = 'list id status message hint'
    $values['doctor:--sort'] = 'words id status message hint'
    $values['instances list:--columns'] = 'list name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at ends_at if_idle_seconds idle_seconds note unread'
    $values['instances list:--sort'] = 'words name id status offer price_per_hour_snapshot ip_address paid_until created_at last_seen_at ends_at if_idle_seconds idle_seconds note unread'
    $values['instances get:--columns'] = 'list name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at'
    $values['instances create:--columns'] = 'list name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at'
    $values['instances reorder:--columns'] = 'list name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at'
    $values['instances get:--sort'] = 'words name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at'
    $values['instances create:--sort'] = 'words name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at'
    $values['instances reorder:--sort'] = 'words name id status offer price_per_hour_snapshot ip_address paid_until created_at region gpu_count image failure_reason ends_at'
    $values['instances create:--offer'] = 'names offer'
    $values['run:--offer'] = 'names offer'
    $values['instances create:--image'] = 'names image'
    $values['run:--image'] = 'names image'
    $values['instances create:--drive'] = 'names drive'
    $values['run:--drive'] = 'names drive'
    $values['instances create:--ssh-key'] = 'names ssh-key'
    $values['run:--ssh-key'] = 'names ssh-key'
    $values['instances create:--template'] = 'names template'
    $values['run:--template'] = 'names template'
    $values['instances create:--wait'] = '=words active ssh'
    $values['instances reorder:--wait'] = '=words active ssh'
    $values['instances start:--wait'] = '=words active ssh'
    $values['instances start:--columns'] = 'list name id status paid_until ends_at'
    $values['instances stop:--columns'] = 'list name id status paid_until ends_at'
    $values['instances terminate:--columns'] = 'list name id status paid_until ends_at'
    $values['instances wait:--columns'] = 'list name id status paid_until ends_at'
    $values['instances track:--columns'] = 'list name id status paid_until ends_at'
    $values['instances untrack:--columns'] = 'list name id status paid_until ends_at'
    $values['instances start:--sort'] = 'words name id status paid_until ends_at'
    $values['instances stop:--sort'] = 'words name id status paid_until ends_at'
    $values['instances terminate:--sort'] = 'words name id status paid_until ends_at'
    $values['instances wait:--sort'] = 'words name id status paid_until ends_at'
    $values['instances track:--sort'] = 'words name id status paid_until ends_at'
    $values['instances untrack:--sort'] = 'words name id status paid_until ends_at'
    $values['instances events:--columns'] = 'list created_at instance type message id instance_id payload'
    $values['instances events:--sort'] = 'words created_at instance type message id instance_id payload'
    $values['instances events:--type'] = 'list info warning error status_change billing'
    $values['instances events:--until'] = 'words active stopped terminated error warning billing'
    $values['instances wait:--for'] = 'words active stopped terminated ssh'
    $values['instances ssh:--columns'] = 'list command'
    $values['instances scp:--columns'] = 'list command'
    $values['instances ssh:--sort'] = 'words command'
    $values['instances scp:--sort'] = 'words command'
    $values['instances tunnel:--columns'] = 'list name endpoint url address local_port remote_port'
    $values['instances tunnel:--sort'] = 'words name endpoint url address local_port remote_port'
    $values['instances ssh-config:--columns'] = 'list host hostname port user id'
    $values['instances ssh-config:--sort'] = 'words host hostname port user id'
    $values['instances endpoints:--columns'] = 'list instance name url address protocol is_main port source instance_id'
    $values['instances endpoints:--sort'] = 'words instance name url address protocol is_main port source instance_id'
    $values['instances secrets:--columns'] = 'list key value'
    $values['instances secrets:--sort'] = 'words key value'
    $values['instances top:--columns'] = 'list name id status index model utilization_percent vram_used_mib vram_total_mib temperature_c power_w cpu_percent memory_used_mib memory_total_mib disk_used_percent idle_seconds price_per_hour error'
    $values['instances top:--sort'] = 'words name id status index model utilization_percent vram_used_mib vram_total_mib temperature_c power_w cpu_percent memory_used_mib memory_total_mib disk_used_percent idle_seconds price_per_hour error'
    $values['instances inventory:--columns'] = 'list name hostname port user gpus offer host id'
    $values['instances inventory:--sort'] = 'words name hostname port user gpus offer host id'
    $values['instances inventory:--format'] = 'words ansible parallel hostfile ssh-config'
    $values['instances expire:--columns'] = 'list name id status ends_at if_idle_seconds paid_until'
    $values['instances expire:--sort'] = 'words name id status ends_at if_idle_seconds paid_until'
    $values['instances reap:--columns'] = 'list name id deadline outcome reason exit_code overdue_seconds'
    $values['instances reap:--sort'] = 'words name id deadline outcome reason exit_code overdue_seconds'
    $values['instances recover:--columns'] = 'list name outcome id asked_at note operation offer_id uid'
    $values['instances recover:--sort'] = 'words name outcome id asked_at note operation offer_id uid'
    $values['run:--columns'] = 'list name names command'
    $values['run:--sort'] = 'words name names command'
    $values['run:--on'] = 'names instance'
    $values['run:--sync'] = 'path'
    $values['run:--report'] = 'path'
    $values['jobs attach:--report'] = 'path'
    $values['jobs list:--columns'] = 'list name status exit_code command started_at seconds cost_at_most ends_at ended_at id'
    $values['jobs get:--columns'] = 'list name status exit_code command started_at seconds cost_at_most ends_at ended_at id'
    $values['jobs list:--sort'] = 'words name status exit_code command started_at seconds cost_at_most ends_at ended_at id'
    $values['jobs get:--sort'] = 'words name status exit_code command started_at seconds cost_at_most ends_at ended_at id'
    $values['status:--columns'] = 'list as_of balance per_hour per_day per_month hours_left runs_out_at unexplained instances drives attention unread'
    $values['status:--sort'] = 'words as_of balance per_hour per_day per_month hours_left runs_out_at unexplained instances drives attention unread'
    $values['audit:--columns'] = 'list check result per_hour message command'
    $values['audit:--sort'] = 'words check result per_hour message command'
    $values['catalog list:--columns'] = 'list kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version'
    $values['catalog add:--columns'] = 'list kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version'
    $values['catalog remove:--columns'] = 'list kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version'
    $values['catalog list:--sort'] = 'words kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version'
    $values['catalog add:--sort'] = 'words kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version'
    $values['catalog remove:--sort'] = 'words kind name id sources price_per_hour price_at seen_at service_name in_stock in_stock_at region gpu cuda_version'
    $values['catalog list:--kind'] = 'words offer image'
    $values['templates list:--columns'] = 'list slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script'
    $values['templates get:--columns'] = 'list slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script'
    $values['templates list:--sort'] = 'words slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script'
    $values['templates get:--sort'] = 'words slug name description min_disk_gb min_cuda_version id tags image_name run_command shm_size is_active sort_order logo_url created_at updated_at post_start_script'
    $values['drives list:--columns'] = 'list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['drives get:--columns'] = 'list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['drives create:--columns'] = 'list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['drives update:--columns'] = 'list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['drives resume:--columns'] = 'list name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['drives list:--sort'] = 'words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['drives get:--sort'] = 'words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['drives create:--sort'] = 'words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['drives update:--sort'] = 'words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['drives resume:--sort'] = 'words name id status size_gb used_bytes price_per_hour current_instance_id paid_until last_billed_at s3_path created_at updated_at'
    $values['ssh-keys list:--columns'] = 'list name id type fingerprint is_default created_at updated_at public_key'
    $values['ssh-keys get:--columns'] = 'list name id type fingerprint is_default created_at updated_at public_key'
    $values['ssh-keys add:--columns'] = 'list name id type fingerprint is_default created_at updated_at public_key'
    $values['ssh-keys delete:--columns'] = 'list name id type fingerprint is_default created_at updated_at public_key'
    $values['ssh-keys list:--sort'] = 'words name id type fingerprint is_default created_at updated_at public_key'
    $values['ssh-keys get:--sort'] = 'words name id type fingerprint is_default created_at updated_at public_key'
    $values['ssh-keys add:--sort'] = 'words name id type fingerprint is_default created_at updated_at public_key'
    $values['ssh-keys delete:--sort'] = 'words name id type fingerprint is_default created_at updated_at public_key'
    $values['billing balance:--columns'] = 'list balance reserved_balance total_balance'
    $values['billing balance:--sort'] = 'words balance reserved_balance total_balance'
    $values['billing transactions:--columns'] = 'list created_at type status direction amount description id'
    $values['billing transactions:--sort'] = 'words created_at type status direction amount description id'
    $values['billing transactions:--type'] = 'list deposit usage_charge bonus refund'
    $values['billing spend:--columns'] = 'list period spent charged refunded deposited bonus other transactions from to'
    $values['billing spend:--sort'] = 'words period spent charged refunded deposited bonus other transactions from to'
    $values['billing spend:--by'] = 'words day week month'
    $values['billing runway:--columns'] = 'list balance per_hour hours_left runs_out_at unexplained_per_hour below as_of'
    $values['billing runway:--sort'] = 'words balance per_hour hours_left runs_out_at unexplained_per_hour below as_of'
    $values['billing promo:--columns'] = 'list added_amount new_balance'
    $values['billing promo:--sort'] = 'words added_amount new_balance'
    $values['me get:--columns'] = 'list name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at'
    $values['me update:--columns'] = 'list name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at'
    $values['me set-password:--columns'] = 'list name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at'
    $values['me get:--sort'] = 'words name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at'
    $values['me update:--sort'] = 'words name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at'
    $values['me set-password:--sort'] = 'words name email role balance reserved_balance total_balance id is_active is_email_verified has_password notify_billing notify_marketing yandex_id github_id verified_at last_login_at created_at updated_at'
    $values['api-keys list:--columns'] = 'list name id key_prefix is_active in_use expires_at last_used_at created_at updated_at'
    $values['api-keys list:--sort'] = 'words name id key_prefix is_active in_use expires_at last_used_at created_at updated_at'
    $values['api-keys create:--save-profile'] = 'names profile'
    $values['profiles move:--to'] = 'words keyring file'
    $values['commands:--columns'] = 'list command summary usage aliases flags columns exit_codes'
    $values['commands:--sort'] = 'words command summary usage aliases flags columns exit_codes'
    $values['completion:--columns'] = 'list shell file changed script'
    $values['completion:--sort'] = 'words shell file changed script'
    $values['*:--profile'] = 'names profile'
    $values['*:--base-url'] = 'free'
    $values['*:--columns'] = 'free'
    $values['*:--sort'] = 'free'
    $values['*:--query'] = 'free'
    $values['*:--timeout'] = 'free'
    $values['*:--output'] = 'words table json jsonl csv tsv yaml id'
    $values['*:-o'] = 'words table json jsonl csv tsv yaml id'
    $values['*:--color'] = 'words auto always never'

    # Finds the value of a flag at a place; nothing for a switch. A leading "=" marks an optional value.
    function ValueOf([string] $place, [string] $flag) {
        $own = $values["${place}:$flag"]
        if ($null -ne $own) { return $own }
        return $values["*:$flag"]
    }

    # Finds the cache folder, by gpucloud's own rules.
    function CacheFolder {
        if ($env:GPUCLOUD_STATE_DIR) {
            if (-not [System.IO.Path]::IsPathRooted($env:GPUCLOUD_STATE_DIR)) { return $null }
            return [System.IO.Path]::Combine($env:GPUCLOUD_STATE_DIR, 'cache')
        }
        if ($env:OS -eq 'Windows_NT') {
            if (-not $env:LOCALAPPDATA) { return $null }
            return [System.IO.Path]::Combine($env:LOCALAPPDATA, 'gpucloud', 'cache')
        }
        if (-not $env:HOME) { return $null }
        if ($IsMacOS) { return [System.IO.Path]::Combine($env:HOME, 'Library', 'Caches', 'gpucloud') }
        $base = $env:XDG_CACHE_HOME
        if (-not $base -or -not $base.StartsWith('/')) { $base = "$env:HOME/.cache" }
        return [System.IO.Path]::Combine($base, 'gpucloud')
    }

    function RowsOf([string] $file) {
        if (-not [System.IO.File]::Exists($file)) { return }
        try { [System.IO.File]::ReadAllLines($file) } catch { }
    }

    # The rows of names of a kind for this command line.
    function NameRows([string] $kind, [string] $profileName, [bool] $hasAddress) {
        $folder = CacheFolder
        if (-not $folder) { return }
        $profiles = [System.IO.Path]::Combine($folder, 'completion', 'profiles.tsv')
        if ($kind -ceq 'profile') { RowsOf $profiles; return }
        $fromOutside = $hasAddress -or [bool] $env:GPUCLOUD_BASE_URL
        $slot = $profileName
        if (-not $slot) { $slot = $env:GPUCLOUD_PROFILE }
        if (-not $slot) {
            $first = @(RowsOf $profiles)[0]
            if ($first) {
                $parts = $first.Split([char] 9)
                if ($parts.Length -eq 4 -and $parts[3] -ceq 'current') { $slot = $parts[1] }
            }
            if ($slot -ceq 'sandbox' -and $fromOutside) { $slot = '-env' }
        }
        if ($slot -cne 'sandbox' -and ($fromOutside -or $env:GPUCLOUD_API_KEY)) { $slot = '-env' }
        if (-not $slot -or $slot.Contains('/') -or $slot.Contains('\')) { return }
        RowsOf ([System.IO.Path]::Combine($folder, 'completion', 'names', $slot, "$kind.tsv"))
    }

    # Quotes the text as one word of PowerShell.
    function Quoted([string] $text) {
        if ($text -cmatch '^[A-Za-z0-9_.=:/+-]+$') { return $text }
        return "'" + $text.Replace("'", "''") + "'"
    }

    # Where the word at the cursor starts, and the words before it.
    $before = New-Object System.Collections.Generic.List[string]
    $current = ''
    foreach ($element in @($commandAst.CommandElements | Select-Object -Skip 1)) {
        $text = $element.Extent.Text
        if ($element.Extent.StartOffset -ge $cursorPosition) { break }
        if ($element.Extent.EndOffset -ge $cursorPosition) {
            $current = $text.Substring(0, $cursorPosition - $element.Extent.StartOffset)
            break
        }
        if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
            $text = $element.Value
        }
        $before.Add($text)
    }

    $place = ''
    $profileName = ''
    $hasAddress = $false
    $pending = ''
    $literal = $false
    $helping = $false
    $topics = @()
    $count = 0
    $used = New-Object System.Collections.Generic.List[string]
    foreach ($word in $before) {
        if ($pending) {
            if ($pending -ceq '--profile') { $profileName = $word }
            if ($pending -ceq '--base-url') { $hasAddress = $true }
            $pending = ''
        }
        elseif (-not $literal -and $word -ceq '--') { $literal = $true }
        elseif (-not $literal -and $word.StartsWith('--profile=')) { $profileName = $word.Substring(10) }
        elseif (-not $literal -and $word.StartsWith('--base-url=')) { $hasAddress = $true }
        elseif (-not $literal -and $word.StartsWith('--') -and $word.Contains('=')) { }
        elseif (-not $literal -and $word.StartsWith('-')) {
            $offer = ValueOf $place $word
            if ($offer -and -not $offer.StartsWith('=')) { $pending = $word }
        }
        elseif (-not $literal -and $steps.ContainsKey("${place}:$word")) {
            $place = $steps["${place}:$word"]
            $first, $more = $place.Split(' ')
            if ($first -ceq 'help') { $place = ''; $helping = $true; $topics = @($more) }
        }
        else { $count++; $used.Add($word) }
    }

    $kept = ''
    $typed = $current
    $offer = ''
    if ($pending) { $offer = ValueOf $place $pending }
    elseif (-not $literal -and $current -cmatch '^(--[^=]+=)') {
        $kept = $Matches[1]
        $typed = $current.Substring($kept.Length)
        $offer = [string] (ValueOf $place $kept.TrimEnd('='))
        $offer = $offer.TrimStart('=')
    }
    elseif (-not $literal -and $current.StartsWith('-')) { $offer = 'flags' }
    elseif ($verbs.ContainsKey($place)) { $offer = 'verbs' }
    elseif (-not $helping -and $takes.ContainsKey($place)) {
        $all = @($takes[$place])
        if ($count -lt $all.Length) { $offer = $all[$count] }
        elseif ($repeats.ContainsKey($place)) { $offer = $all[-1] }
    }

    # Pairs of a word and its description.
    $found = New-Object System.Collections.Generic.List[object]
    function Pairs($list) {
        for ($at = 0; $at -lt $list.Count; $at += 2) { , @($list[$at], $list[$at + 1]) }
    }
    $kind, $words = $offer.Split(' ')
    $words = @($words)
    $start = $typed.TrimStart('"', "'")
    $after = ''
    $files = @()
    if ($kind -ceq 'path') {
        # An instance with a colon, or a file; only the instance knows the paths after the colon.
        if ($typed -cmatch '^[^/\\]{2,}:') { return }
        $files = @([System.Management.Automation.CompletionCompleters]::CompleteFilename($typed))
        $kind = 'names'
        $words = @('instance')
        $after = ':'
    }
    switch -CaseSensitive ($kind) {
        'verbs' {
            if ($helping -and -not $place) { $topics | ForEach-Object { $found.Add(@($_, $_)) } }
            Pairs $verbs[$place] | ForEach-Object { $found.Add($_) }
        }
        'flags' {
            if ($flags.ContainsKey($place)) { Pairs $flags[$place] | ForEach-Object { $found.Add($_) } }
            Pairs $shared | ForEach-Object { $found.Add($_) }
        }
        'names' {
            foreach ($wanted in $words) {
                $rows = @(NameRows $wanted $profileName $hasAddress | ForEach-Object { , $_.Split([char] 9) } | Where-Object {
                    $_.Length -eq 4 -and $_[0] -and -not $used.Contains($_[1]) -and -not ($after -and $_[1] -cmatch '[:/@]')
                })
                foreach ($row in $rows) { $found.Add(@("$($row[1])$after", "$wanted $($row[3])".TrimEnd(' -'.ToCharArray()))) }
            }
        }
        'words' { $words | ForEach-Object { $found.Add(@($_, $_)) } }
        'list' {
            $given = @($typed.Split(','))
            $given = @($given | Select-Object -First ($given.Length - 1))
            $stays = ($given | ForEach-Object { "$_," }) -join ''
            $words | Where-Object { $given -cnotcontains $_ } | ForEach-Object { $found.Add(@("$stays$_", $_)) }
            $start = $typed
        }
        'file' { return [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) }
    }

    # PowerShell may replace only a part of our word, so offers start where that part starts.
    $skip = [Math]::Max(0, $current.Length - $wordToComplete.Length)
    foreach ($pair in $found) {
        if (-not $pair[0].StartsWith($start, 'Ordinal')) { continue }
        $text = Quoted "$kept$($pair[0])"
        if ($skip -gt 0 -and $text.StartsWith($current.Substring(0, $skip), 'Ordinal')) { $text = $text.Substring($skip) }
        $help = if ($pair[1]) { $pair[1] } else { $pair[0] }
        [System.Management.Automation.CompletionResult]::new($text, $pair[0], 'ParameterValue', $help)
    }
    $files
}
