/** The side of the thread or process: answers one task after the other until it is ended. */

import { parentPort } from 'node:worker_threads'

export type Answered<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'fault'; readonly message: string; readonly stack: string | undefined }

export function answerTasks<Task, Answer>(
  answerOf: (task: Task) => Answer | Promise<Answer>,
): void {
  async function answered(task: Task): Promise<Answered<Answer>> {
    try {
      return { kind: 'answer', answer: await answerOf(task) }
    } catch (error) {
      // Errors lose their class when they are sent, so they are sent as data.
      const { message, stack } = error instanceof Error ? error : new Error(String(error))
      return { kind: 'fault', message, stack }
    }
  }
  const parent = parentPort ?? process
  const tell = (message: unknown): unknown =>
    parentPort === null ? process.send?.(message) : parentPort.postMessage(message)
  parent.on('message', async (task: Task) => {
    tell(await answered(task))
  })
  // The first message: the code is loaded.
  tell('ready')
}
