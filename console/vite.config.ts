/** How the console is bundled: split by view, with names by content, and addresses relative to the page. */

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

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'error',
  plugins: [singleIcons],
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
