# Installs gpucloud @VERSION@ for the current user, after checking the archive's sum.
#
#   .\install.ps1 [-Folder FOLDER] [-From FOLDER|URL]
#   .\install.ps1 -Uninstall [-Folder FOLDER]
#
# The archive is taken from -From, or from the folder of this file. URL is https://. It uses the curl.exe
# and tar.exe of Windows 10 and later.
param(
  [string]$Folder = "$env:LOCALAPPDATA\Programs\gpucloud",
  [string]$From = $PSScriptRoot,
  [switch]$Uninstall
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

# The sum of each archive of this version, as sha256sum prints it. "npm run package" writes them here.
$sums = @'
@SUMS@
'@
$archive = 'gpucloud-@VERSION@-windows-x64.zip'

function Stop-Here([string]$Message) {
  [Console]::Error.WriteLine("error: $Message")
  exit 1
}

# What was installed, one path per line, relative to the folder.
$list = Join-Path $Folder 'installed-files.txt'

if ($Uninstall) {
  if (-not (Test-Path -LiteralPath $list)) { Stop-Here "gpucloud is not installed in $Folder" }
  foreach ($file in Get-Content -LiteralPath $list) {
    Remove-Item -LiteralPath (Join-Path $Folder $file) -Force -ErrorAction SilentlyContinue
  }
  Remove-Item -LiteralPath $list -Force
  if (-not (Get-ChildItem -LiteralPath $Folder -Force)) { Remove-Item -LiteralPath $Folder }
  Write-Output "Removed gpucloud from $Folder."
  exit 0
}

if ($env:PROCESSOR_ARCHITECTURE -ne 'AMD64') {
  Stop-Here "there is no executable for Windows on $($env:PROCESSOR_ARCHITECTURE): use the npm package"
}
# A script that is read from a pipe has no folder, and the current one may be anyone's.
if (-not $From) { Stop-Here 'no archive beside this script: use -From FOLDER or -From URL' }
if ($From -match '^http://') { Stop-Here "-From ${From}: use https://" }
$wanted = @($sums -split '\r?\n' | Where-Object { $_.EndsWith("  $archive") })
if ($wanted.Count -ne 1) { Stop-Here "this install.ps1 has no sum for $archive" }

$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory -Path $work | Out-Null
try {
  $file = Join-Path $work $archive
  if ($From -match '^https://') {
    # Follows redirects to https:// only.
    & "$env:SystemRoot\System32\curl.exe" -fsSL --proto =https --proto-redir =https -o $file "$From/$archive"
    if ($LASTEXITCODE -ne 0) { Stop-Here "could not download $From/$archive" }
  } else {
    $source = Join-Path $From $archive
    if (-not (Test-Path -LiteralPath $source)) { Stop-Here "$archive is not in $From" }
    Copy-Item -LiteralPath $source -Destination $file
  }
  $sum = (Get-FileHash -LiteralPath $file -Algorithm SHA256).Hash.ToLowerInvariant()
  if ($wanted[0] -ne "$sum  $archive") {
    Stop-Here "$archive is not the file that this install.ps1 was published with: nothing was installed"
  }
  & "$env:SystemRoot\System32\tar.exe" -xf $file -C $work
  if ($LASTEXITCODE -ne 0) { Stop-Here "could not unpack $archive" }
  $unpacked = Join-Path $work 'gpucloud-@VERSION@-windows-x64'
  New-Item -ItemType Directory -Path $Folder -Force | Out-Null
  $names = @(Get-ChildItem -LiteralPath $unpacked -File | ForEach-Object { $_.Name })
  foreach ($name in $names) {
    $target = Join-Path $Folder $name
    # A program that is running can be renamed, but not replaced.
    if (Test-Path -LiteralPath $target) {
      Move-Item -LiteralPath $target -Destination "$target.old" -Force
    }
    Move-Item -LiteralPath (Join-Path $unpacked $name) -Destination $target
    Remove-Item -LiteralPath "$target.old" -Force -ErrorAction SilentlyContinue
  }
  Set-Content -LiteralPath $list -Value $names
} finally {
  Remove-Item -LiteralPath $work -Recurse -Force
}

Write-Output "Installed $(& (Join-Path $Folder 'gpucloud.exe') --version) in $Folder."
if (($env:Path -split ';') -notcontains $Folder) { Write-Output "Add $Folder to PATH." }
