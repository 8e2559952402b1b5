/**
 * Splits a command line into words like a shell: blanks, single and double quotes, backslashes. It expands no
 * variables or patterns and runs nothing.
 */

/** The words, or what is wrong. */
export function splitCommand(text: string): readonly string[] | string {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (quote !== '' && character === quote) {
      quote = ''
    } else if (character === '\\' && quote !== "'") {
      at++
      if (at === text.length) return 'nothing follows the last backslash'
      const next = text.charAt(at)
      // In double quotes a backslash escapes only these two characters.
      word = `${word ?? ''}${quote === '"' && next !== '"' && next !== '\\' ? '\\' : ''}${next}`
    } else if (quote === '' && (character === '"' || character === "'")) {
      quote = character
      // Quotes around nothing are an empty word.
      word ??= ''
    } else if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else {
      word = `${word ?? ''}${character}`
    }
  }
  if (quote !== '') return `the quote ${quote} is not closed`
  if (word !== undefined) words.push(word)
  if (words.length === 0) return 'it has no words'
  return words.some((one) => one.includes('\0')) ? 'it holds a null character' : words
}
