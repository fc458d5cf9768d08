declare module "@20minutes/s3rver" {
  import type { Server } from "node:http"
  import type { AddressInfo } from "node:net"

  export default class S3rver {
    constructor(options: {
      readonly port: number
      readonly address: string
      readonly silent: boolean
      readonly directory: string
      readonly configureBuckets: ReadonlyArray<{ readonly name: string; readonly configs: ReadonlyArray<string> }>
    })
    run(): Promise<AddressInfo>
    readonly httpServer: Server
  }
}
