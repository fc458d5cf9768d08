/** A finding that is accepted, with the reason. */
export interface Answer {
  readonly tool: string
  readonly finding: RegExp
  readonly because: string
}

export const answers: ReadonlyArray<Answer> = [
  {
    tool: "wapiti",
    finding: /^Strict-Transport-Security is not set/,
    because: "the service speaks plain HTTP; the TLS proxy sets this header, and browsers ignore it over HTTP"
  },
  {
    tool: "wapiti",
    finding: /^X-XSS-Protection is not set/,
    because: "browsers have removed the filter that this header controlled"
  },
  {
    tool: "wapiti",
    finding: /^X-Frame-Options is not set/,
    because: "the pages forbid framing with frame-ancestors, which replaces it; JSON is not rendered"
  },
  {
    tool: "wapiti",
    finding: /^CSP (?:is not set|attribute ".*" .*) \(GET \/v1\//,
    because: "an operation returns JSON with nosniff, which browsers neither execute nor interpret as another type"
  },
  {
    tool: "wapiti",
    finding: /^CSP attribute "(?:default|script)-src" is missing \(GET \/docs\)/,
    because: "its script is inline, and the page shows no content from clients"
  }
]
