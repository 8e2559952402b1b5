import { useState } from 'react'

/** What is typed into a field whose value the address holds: another address replaces it. */
export function useTypedText(value: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(value)
  const [from, setFrom] = useState(value)
  if (from !== value) {
    setFrom(value)
    setText(value)
  }
  return [text, setText]
}
