/** An error that is returned to the client. */
export class ServiceError extends Error {
  readonly statusCode: number
  readonly tag: string

  constructor(statusCode: number, tag: string, message: string) {
    super(message)
    this.statusCode = statusCode
    this.tag = tag
  }
}
