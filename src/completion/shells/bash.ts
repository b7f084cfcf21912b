import { HEAD, type Model, type ModelPlace } from '../model.ts';
import { ENGINE } from './bash-engine.ts';
import { OWNER, quoted } from './quote.ts';

/**
 * Supports bash 3.2, which macOS still has, and does not need bash-completion.
 *
 * Each place has its own small function, since bash copies a function at each call. Copying one big
 * table would take longer than the rest of the completion.
 */
export function bashScript(model: Model): string {
  return `# bash completion for gpucloud
${HEAD.map((line) => `# ${line}`).join('\n')}

${tables(model)}
${NAMES}
${ENGINE}`;
}

function word(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : quoted(text);
}

/** Returns the suffix of the function for a place; empty for the root. */
function keyOf(path: string): string {
  return path.replace(/[^A-Za-z0-9]/g, '_');
}

function tables({ shared, places, values }: Model): string {
  const own = new Map<string, string[]>();
  const everywhere: string[] = [];
  for (const { keys, offer } of values) {
    const flags = new Map<string, string[]>();
    for (const key of keys) {
      const [path = '', flag = ''] = key.split(':');
      flags.set(path, [...(flags.get(path) ?? []), flag]);
    }
    for (const [path, names] of flags) {
      const branch = `    ${names.join('|')}) offer=${word(offer)} ;;`;
      if (path === '*') everywhere.push(branch);
      else own.set(path, [...(own.get(path) ?? []), branch]);
    }
  }
  const functions = places.map((place) =>
    [
      `__gpucloud_at_${keyOf(place.path)}() {`,
      '  case $1 in',
      ...place.steps.map(({ words, to, topics }) => {
        // After "help", completes the words of a command.
        const goes =
          topics === undefined
            ? `path=${keyOf(to)}`
            : `path= helping=${word(topics.join(' ') || 'yes')}`;
        return `    ${words.join('|')}) ${goes} ;;`;
      }),
      ...(own.get(place.path) ?? []),
      `    ' ') ${placeLine(place)} ;;`,
      '    *) return 1 ;;',
      '  esac',
      '}',
    ].join('\n'),
  );
  return `# One function per command. For a word, it sets "path" (a subcommand) or "offer" (the type of a
# flag's value, with a leading "=" if the value is optional). For a blank, it lists all words.
${functions.join('\n\n')}

# Flags of every command.
__gpucloud_everywhere() {
  case $1 in
${everywhere.join('\n')}
    ' ') flags="$flags "${quoted(shared.flatMap(({ names }) => names).join(' '))} ;;
    *) return 1 ;;
  esac
}
`;
}

function placeLine(place: ModelPlace): string {
  const parts = [
    ['verbs', place.below.map(({ name }) => name).join(' ')],
    ['flags', place.flags.flatMap(({ names }) => names).join(' ')],
    ['repeats', place.repeats ? '1' : ''],
  ].flatMap(([name, text]) => (text === '' ? [] : [`${name}=${word(text ?? '')}`]));
  const takes = place.takes.length === 0 ? [] : [`takes=(${place.takes.map(word).join(' ')})`];
  return [...parts, ...takes].join(' ') || ':';
}

/** Finds names in the cache, in bash. */
export const NAMES = `# Finds the value of the flag $1 at "path", in "offer"; fails for a switch.
__gpucloud_value() {
  __gpucloud_at_$path "$1" || __gpucloud_everywhere "$1"
}

${OWNER}
# Offers the names of the kind $1 that begin with "cur". The first line of a file holds all of its
# names: work on each of a hundred lines costs more than everything else.
__gpucloud_names() {
  local folder line name file tab=$'\\t' plain=$cur open= slot=
  local -a lines all fitting=()
  case $cur in
    \\"*) open=\\" plain=\${cur#?} ;;
    \\'*) open=\\' plain=\${cur#?} ;;
    *\\\\*) plain=\${cur//\\\\/} ;;
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
    IFS=$'\\n' read -r -d '' -a lines < "$file"
    [[ -n \${lines+set} ]] || return
    fitting=("\${lines[@]#*$tab}")
    fitting=("\${fitting[@]%%$tab*}")
  else
    IFS=$tab read -r -a fitting < "$file"
    # A file without that first line has another version.
    [[ \${fitting-} != "$1" ]] || return
  fi
  if [[ -n $plain && -n \${fitting+set} ]]; then
    all=()
    for name in "\${fitting[@]}"; do
      [[ $name != "$plain"* ]] || all[\${#all[@]}]=$name
    done
    fitting=(\${all[@]+"\${all[@]}"})
  fi
  [[ -n \${fitting+set} ]] || return
  # Plain words are what quotes would leave as it is: all are tried at once.
  IFS=:
  line=":\${fitting[*]}"
  printf -v name %q "$line"
  if [[ -n $open || $name != "$line" || $line == *:[#~-]* ]]; then
    for name in "\${fitting[@]}"; do __gpucloud_odd "$name"; done
  else
    if [[ $used != / ]]; then
      # Do not offer earlier arguments again.
      line=$line:
      for name in "\${typed[@]}"; do line=\${line/":$name:"/:}; done
      fitting=(\${line#:})
    fi
    if [[ -z \${fitting+set} ]]; then
      :
    elif [[ -z $prefix\${COMPREPLY+set} ]]; then
      COMPREPLY=("\${fitting[@]}")
    else
      COMPREPLY=(\${COMPREPLY[@]+"\${COMPREPLY[@]}"} "\${fitting[@]/#/$prefix}")
    fi
  fi
  IFS=$' \\t\\n'
}

# Offers the name $1, quoted as one plain word.
__gpucloud_odd() {
  local word=$1
  case $open in
    \\") [[ $word != *[\\"\\\\\\\`\\$\\!]* ]] || return ;;
    \\') [[ $word != *\\'* ]] || return ;;
    *) printf -v word %q "$word" ;;
  esac
  [[ $used == *"/$word/"* ]] || COMPREPLY[\${#COMPREPLY[@]}]=$prefix$word
}
`;
