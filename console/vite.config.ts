/** How the console is bundled: split by view, with names by content, and addresses relative to the page. */

import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

const named = /import \{([^}]*)\} from ['"]@fluentui\/react-icons['"]/g

/** `ChevronDown20Regular` stands in `chevron-down.js`. */
function fileOf(icon: string): string {
  return icon
    .replace(/\d*(?:Regular|Filled)$/, '')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
}

/** The design system asks its 20,000 icons for a few: each is taken from its own file, which halves the time of a build. */
const singleIcons: Plugin = {
  name: 'single-icons',
  enforce: 'pre',
  transform(code) {
    if (!code.includes('@fluentui/react-icons')) return null
    const split = code.replaceAll(named, (_, names: string) =>
      names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
        .map((name) => {
          const [icon = ''] = name.split(' as ')
          const from = /(?:Regular|Filled)$/.test(icon) ? `svg/${fileOf(icon)}` : 'utils'
          return `import { ${name} } from '@fluentui/react-icons/${from}'`
        })
        .join('\n'),
    )
    return { code: split, map: null }
  },
}

const styleElement = /([\w.]+)\.createElement\("style"\)/g
const styleAttribute = /(\w+)\.setAttribute\("style",(`[^`]*`)\)/g
/** How often the terminal does each: another number is another release, to be looked at. */
const styleElements = 3
const styleAttributes = 1

/** The terminal writes style elements and attributes, which the page's policy forbids: it gets the ways that are allowed. */
const terminalStyles: Plugin = {
  name: 'terminal-styles',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/@xterm/xterm/lib/xterm.mjs')) return null
    const counts = [styleElement, styleAttribute].map((one) => code.match(one)?.length)
    if (counts[0] !== styleElements || counts[1] !== styleAttributes) {
      throw new Error(`@xterm/xterm writes styles in other places than was known: ${counts}`)
    }
    const from = join(import.meta.dirname, 'src', 'views', 'containers', 'rule-element.ts')
    const allowed = code
      .replaceAll(styleElement, 'ruleElement($1)')
      .replaceAll(styleAttribute, '$1.style.cssText=$2')
    return { code: `import { ruleElement } from ${JSON.stringify(from)};${allowed}`, map: null }
  },
}

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'error',
  plugins: [singleIcons, terminalStyles],
  build: {
    target: 'es2024',
    outDir: 'dist',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    // Nothing inline: the policy of the pages forbids it.
    assetsInlineLimit: 0,
    manifest: true,
    rolldownOptions: {
      onLog(level, log, pass) {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') pass(level, log)
      },
    },
  },
})
