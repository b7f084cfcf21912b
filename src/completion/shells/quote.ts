import type { Offer } from '../tree.ts';

/** Quotes a text of gpucloud as one word for bash, zsh and fish. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Quotes for fish, which interprets backslashes inside single quotes. */
export function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

export function powershellQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Formats an offer for the scripts: its kind, then its words. */
export function offerText(offer: Offer): string {
  switch (offer.kind) {
    case 'words':
    case 'list':
      return [offer.kind, ...offer.words].join(' ');
    case 'names':
      return ['names', ...offer.of].join(' ');
    case 'sort':
      return ['words', ...offer.words].join(' ');
    default:
      return offer.kind;
  }
}

/** Shared code of bash and zsh. */

/** Finds the cache folder and the owner of the names. */
export const OWNER = `# Finds the cache folder, by gpucloud's own rules.
__gpucloud_folder() {
  local state=\${GPUCLOUD_STATE_DIR-} base
  folder=
  if [[ -n $state ]]; then
    [[ $state != /* ]] || folder=$state/cache
    return
  fi
  case \${OSTYPE-} in
    darwin*) base=\${HOME-}/Library/Caches ;;
    msys*|cygwin*) base=\${LOCALAPPDATA-}; [[ -z $base ]] || folder=$base/gpucloud/cache; return ;;
    *)
      base=\${XDG_CACHE_HOME-}
      [[ $base == /* ]] || base=\${HOME-}/.cache ;;
  esac
  [[ $base != /* ]] || folder=$base/gpucloud
}

# Finds the owner of the names, in "slot", by gpucloud's own rules.
__gpucloud_slot() {
  local first= profiles=$folder/completion/profiles.tsv
  slot=\${profile:-\${GPUCLOUD_PROFILE-}}
  if [[ -z $slot ]]; then
    if [[ -f $profiles && -r $profiles ]]; then IFS= read -r first < "$profiles"; fi
    if [[ $first == *"$tab"current ]]; then slot=\${first#*$tab}; slot=\${slot%%$tab*}; fi
    [[ $slot != sandbox || -z $address\${GPUCLOUD_BASE_URL-} ]] || slot=-env
  fi
  if [[ $slot != sandbox && -n $address\${GPUCLOUD_BASE_URL-}\${GPUCLOUD_API_KEY-} ]]; then
    slot=-env
  fi
  [[ -n $slot && $slot != */* ]]
}
`;

/** Handles the words before the cursor, except steps and arguments. */
export const WORD = `    if [[ -n $pending ]]; then
      case $pending in
        --profile) profile=$word ;;
        --base-url) address=1 ;;
      esac
      pending=
      continue
    fi
    case $literal$word in
      --) literal=1 ;;
      --profile=*) profile=\${word#*=} ;;
      --base-url=*) address=1 ;;
      --*=*) ;;
      -*)
        if __gpucloud_value "$word" && [[ $offer != '='* ]]; then pending=$word; fi ;;`;
