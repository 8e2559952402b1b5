/**
 * Stands for a style element of the terminal (`vite.config.ts` puts it there). The page's policy forbids text in a style
 * element; rules of a sheet that a script makes are allowed.
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
