/**
 * A real browser for tests: the installed Chromium, which starts once for a test file. Each opening has a profile of its own, empty
 * and removed afterwards.
 */

import { after } from 'node:test'
import { type Browser as Chromium, chromium, type Page } from 'playwright-core'
import { noteProcessorSeconds } from '../cost.ts'
import { findChromium, howToGetChromium } from './find-chromium.ts'

// It may run as root in a container, and must request nothing from outside.
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
]

interface BrowserOptions {
  readonly dark?: boolean
  readonly width?: number
}

export interface Browser extends AsyncDisposable {
  readonly page: Page
  /** Errors of pages: of their scripts, and of their content security policy. */
  readonly complaints: readonly string[]
}

let started: Promise<Chromium> | undefined
// Of the file that imports this one.
after(closeBrowser)

/** Whoever is no test closes it: the process does not end before. */
export async function closeBrowser(): Promise<void> {
  const browser = await started
  if (browser === undefined) return
  await lookAtPages(browser)
  for (const seconds of pages.values()) noteProcessorSeconds(seconds)
  await browser.close()
}

/** Seconds of a processor by process, but for the browser's own, which is waited for and counted then. */
const pages = new Map<number, number>()

/** To be called before a page goes with its process. */
async function lookAtPages(browser: Chromium): Promise<void> {
  if (!browser.isConnected()) return
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  for (const { id, type, cpuTime } of processInfo) if (type !== 'browser') pages.set(id, cpuTime)
  await session.detach()
}

/** Throws if there is none: call `findChromium` first, and skip with `howToGetChromium`. */
export async function openBrowser(options: BrowserOptions = {}): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(howToGetChromium)
  started ??= chromium.launch({ executablePath, args: flags, headless: true })
  const browser = await started
  const context = await browser.newContext({
    colorScheme: options.dark === true ? 'dark' : 'light',
    viewport: { width: options.width ?? 1100, height: 750 },
  })
  const complaints: string[] = []
  const page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // The browser also reports an answer of 400 to a wrong password, which is expected.
    if (message.text().includes('Content Security Policy')) {
      complaints.push(`${message.text()} (at ${message.location().url}, on ${page.url()})`)
    }
  })
  return {
    page,
    complaints,
    async [Symbol.asyncDispose]() {
      await lookAtPages(browser)
      await context.close()
    },
  }
}

/** Texts of a page with less contrast than WCAG requires (level AA: 4.5, large text 3). */
export function faintTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(contrastScript)
}

/** Whether a page overflows the window. */
export async function overflows(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth')
}

const contrastScript = `(() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const channel = (value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const light = ({ r, g, b }) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.a === 1) return colour;
    }
    return { r: 255, g: 255, b: 255, a: 1 };
  };
  const faint = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!own && !('value' in element && element.value !== '')) continue;
    if (!element.checkVisibility() || element.type === 'hidden') continue;
    const style = getComputedStyle(element);
    const [high, low] = [light(parse(style.color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const large = parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700;
    if (ratio < (large ? 3 : 4.5)) {
      faint.push(element.tagName + ': ' + (element.textContent || element.value).slice(0, 40) + ' ' + ratio.toFixed(2));
    }
  }
  return faint;
})()`
