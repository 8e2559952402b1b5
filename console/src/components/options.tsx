/** The options of a `Select`: each value with its label. */
export function Options({ of }: { readonly of: Readonly<Record<string, string>> }) {
  return Object.entries(of).map(([value, title]) => (
    <option key={value} value={value}>
      {title}
    </option>
  ))
}
