/** Reads the tables and completes a word in PowerShell. */
export const ENGINE = `    # Finds the value of a flag at a place; nothing for a switch. A leading "=" marks an optional value.
    function ValueOf([string] $place, [string] $flag) {
        $own = $values["\${place}:$flag"]
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
        if (-not $slot -or $slot.Contains('/') -or $slot.Contains('\\')) { return }
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
        elseif (-not $literal -and $steps.ContainsKey("\${place}:$word")) {
            $place = $steps["\${place}:$word"]
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
        if ($typed -cmatch '^[^/\\\\]{2,}:') { return }
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
`;
