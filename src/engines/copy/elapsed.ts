/** Milliseconds since the process began: only for pacing, such as how often to commit or pause. */

export function elapsedMilliseconds(): number {
  return performance.now()
}
