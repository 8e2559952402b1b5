/**
 * The address of a path below `base`, which ends with a slash. Throws for one that leads elsewhere: whoever sends a token there
 * would give it away, and paths come from the address bar and from what others wrote.
 */
export function urlBelow(base: URL, path: string): URL {
  // With `./` in front, `https:/host` and `//host` are names of a folder.
  const url = new URL(`./${path.replace(/^\/+/, '')}`, base)
  if (url.origin === base.origin && url.pathname.startsWith(base.pathname)) return url
  throw new TypeError(`${path} is no path of this installation`)
}
