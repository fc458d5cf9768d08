/** A finding of a judge that is none, and why. */
export interface Answer {
  readonly judge: string
  readonly finding: RegExp
  readonly because: string
}

export const answers: ReadonlyArray<Answer> = [
  {
    judge: "wapiti",
    finding: /^Strict-Transport-Security is not set/,
    because: "the service speaks plain HTTP; what ends TLS before it sets this, and a browser ignores it over HTTP"
  },
  {
    judge: "wapiti",
    finding: /^X-XSS-Protection is not set/,
    because: "browsers have dropped the filter that this switched"
  },
  {
    judge: "wapiti",
    finding: /^X-Frame-Options is not set/,
    because: "the pages forbid framing with frame-ancestors, which takes its place; JSON is not shown"
  },
  {
    judge: "wapiti",
    finding: /^CSP (?:is not set|attribute ".*" .*) \(GET \/v1\//,
    because: "an operation answers with JSON, which a browser neither runs nor, with nosniff, takes for anything else"
  },
  {
    judge: "wapiti",
    finding: /^CSP attribute "(?:default|script)-src" is missing \(GET \/docs\)/,
    because: "its script stands in the page, which shows nothing that anybody could have written but us"
  }
]
