/** The part of testcontainers 12 that the export `armature-plane/testcontainers` uses: who imports that has the package itself. */
declare module 'testcontainers' {
  interface Started {
    getHost(): string
    getMappedPort(port: number): number
    exec(command: string[]): Promise<{ readonly stdout: string; readonly exitCode: number }>
  }

  export type StartedTestContainer = Started

  export class AbstractStartedContainer implements Started {
    constructor(started: StartedTestContainer)
    getHost(): string
    getMappedPort(port: number): number
    exec(command: string[]): Promise<{ readonly stdout: string; readonly exitCode: number }>
    stop(): Promise<unknown>
    [Symbol.asyncDispose](): Promise<void>
  }

  export class GenericContainer {
    constructor(image: string)
    withExposedPorts(...ports: number[]): this
    withEnvironment(environment: Record<string, string>): this
    withWaitStrategy(strategy: object): this
    start(): Promise<StartedTestContainer>
  }

  export const Wait: { forHttp(path: string, port: number): object }
}
