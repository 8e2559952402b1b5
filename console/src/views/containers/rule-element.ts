/**
 * Replaces a style element of the terminal (see `vite.config.ts`). The page's policy forbids text in a style
 * element, but allows rules that a script adds to a sheet.
 */
export function ruleElement(owner: Document): HTMLElement {
  const sheet = new CSSStyleSheet()
  const element = owner.createElement('span')
  element.hidden = true
  owner.adoptedStyleSheets.push(sheet)
  Object.defineProperty(element, 'textContent', {
    set: (text: string) => sheet.replaceSync(text),
  })
  element.remove = () => {
    HTMLElement.prototype.remove.call(element)
    owner.adoptedStyleSheets = owner.adoptedStyleSheets.filter((one) => one !== sheet)
  }
  return element
}
