# PowerShell completion for gpucloud
# Written by "gpucloud completion": do not edit.
Register-ArgumentCompleter -Native -CommandName gpucloud -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    $line = $commandAst.Extent.Text.PadRight($length).Substring(0, $length).Replace('"', "'") + '|'
    $program = @(Get-Command gpucloud -CommandType Application -ErrorAction SilentlyContinue)[0]
    if (-not $program) { return }
    & $program __complete powershell $line 2> $null | ForEach-Object {
        $value, $help = $_ -split ([char] 9), 2
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
