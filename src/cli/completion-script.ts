/** Makes completion scripts for shells from the declarations of the commands. Pure. */

export interface Completion {
  /** The words before the cursor: `role assignment`. */
  readonly path: string
  /** The words and options that may follow. */
  readonly words: readonly string[]
  /** The values of its options: `--output` → table, json, … */
  readonly values: Readonly<Record<string, readonly string[]>>
}

export const shells = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof shells)[number]

/** Words of the catalogue are letters, digits and dashes, so these quotes suffice. */
export function completionScript(shell: Shell, table: readonly Completion[]): string {
  if (shell === 'fish') return fishScript(table)
  const cases = table.flatMap(({ path, words, values }) => [
    `    '${path}') found='${words.join(' ')}' ;;`,
    ...Object.entries(values).map(
      ([option, choices]) => `    '${path} ${option}') found='${choices.join(' ')}' ;;`,
    ),
  ])
  const look = `_armature_find() {
  found=
  case "$1" in
${cases.join('\n')}
  esac
}`
  return shell === 'bash' ? `${look}\n${bashTail}` : `#compdef armature\n${look}\n${zshTail}`
}

const bashTail = `_armature() {
  local word=\${COMP_WORDS[COMP_CWORD]} path= found= index
  for ((index = 1; index < COMP_CWORD; index++)); do
    _armature_find "\${path:+$path }\${COMP_WORDS[index]}"
    [ -n "$found" ] && path="\${path:+$path }\${COMP_WORDS[index]}"
  done
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
    -*) _armature_find "$path \${COMP_WORDS[COMP_CWORD - 1]}" ;;
    *) found= ;;
  esac
  [ -n "$found" ] || _armature_find "$path"
  COMPREPLY=($(compgen -W "$found" -- "$word"))
}
complete -o default -F _armature armature
`

const zshTail = `_armature() {
  local path_= found= index
  for ((index = 2; index < CURRENT; index++)); do
    _armature_find "\${path_:+$path_ }\${words[index]}"
    [ -n "$found" ] && path_="\${path_:+$path_ }\${words[index]}"
  done
  found=
  [[ \${words[CURRENT - 1]} == -* ]] && _armature_find "$path_ \${words[CURRENT - 1]}"
  [ -n "$found" ] || _armature_find "$path_"
  compadd -- \${=found} || _files
}
if [ "$funcstack[1]" = _armature ]; then _armature "$@"; else compdef _armature armature; fi
`

function fishScript(table: readonly Completion[]): string {
  const cases = table.flatMap(({ path, words, values }) => [
    `    case '${path}'\n      printf '%s\\n' ${words.join(' ')}`,
    ...Object.entries(values).map(
      ([option, choices]) =>
        `    case '${path} ${option}'\n      printf '%s\\n' ${choices.join(' ')}`,
    ),
  ])
  return `function __armature_find
  switch "$argv[1]"
${cases.join('\n')}
  end
end
function __armature_words
  set -l path ''
  set -l typed (commandline -opc)
  for word in $typed[2..-1]
    set -l next (string trim -- "$path $word")
    test (count (__armature_find "$next")) -gt 0; and set path "$next"
  end
  set -l last $typed[-1]
  set -l found
  string match -q -- '-*' $last; and set found (__armature_find "$path $last")
  test (count $found) -gt 0; or set found (__armature_find "$path")
  printf '%s\\n' $found
end
complete -c armature -f -a '(__armature_words)'
`
}
