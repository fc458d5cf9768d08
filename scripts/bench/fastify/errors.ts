/** A failure that the client is told about. */
export class ServiceError extends Error {
  readonly statusCode: number
  readonly tag: string

  constructor(statusCode: number, tag: string, message: string) {
    super(message)
    this.statusCode = statusCode
    this.tag = tag
  }
}
