/** Bytes that are not a valid request, or one that servers interpret differently, and the expected outcome. */
export interface Raw {
  readonly label: string
  /** The bytes, with the key inserted where the request has one. */
  readonly bytes: (key: string) => Uint8Array
  /** The status of the only response. */
  readonly becomes: number | "closed"
}

type Becomes = Raw["becomes"]

const host = "Host: waypost.test"
const close = "Connection: close"
const theKey = "{key}"
const json = "Content-Type: application/json"
/** Data that must never be parsed as a separate request. */
const smuggled = `GET /healthz HTTP/1.1\r\n${host}\r\n\r\n`

const raw = (label: string, text: string, becomes: Becomes = 400): Raw => ({
  label,
  bytes: (key) => Buffer.from(text.replace(theKey, key), "latin1"),
  becomes
})

/** A request from its lines, unchanged. */
const asked = (label: string, line: string, lines: ReadonlyArray<string>, body = "", becomes: Becomes = 400) =>
  raw(label, `${[line, ...lines].join("\r\n")}\r\n\r\n${body}`, becomes)

const got = (label: string, ...lines: ReadonlyArray<string>) => asked(label, "GET /healthz HTTP/1.1", [host, ...lines])
const line = (label: string, first: string, becomes: Becomes = 400) => asked(label, first, [host, close], "", becomes)
const posted = (label: string, lines: ReadonlyArray<string>, body: string, becomes: Becomes = 400) =>
  asked(label, "POST /v1/locations HTTP/1.1", [host, json, ...lines], body, becomes)
/** With a key, because the service reads chunks only of authenticated requests. */
const chunked = (label: string, body: string, becomes: Becomes = 400) =>
  posted(label, [close, `Authorization: ${theKey}`, "Transfer-Encoding: chunked"], body, becomes)

/** Conflicting or invalid framing headers. */
const framing = [
  posted("a length and chunks", ["Content-Length: 2", "Transfer-Encoding: chunked"], `{}${smuggled}`),
  posted("chunks and a length", ["Transfer-Encoding: chunked", "Content-Length: 4"], `0\r\n\r\n${smuggled}`),
  posted("two lengths", ["Content-Length: 2", "Content-Length: 3"], "{}"),
  posted("two lengths that agree", ["Content-Length: 2", "Content-Length: 2"], `{}${smuggled}`),
  posted("two lengths in one header", ["Content-Length: 2, 2"], `{}${smuggled}`),
  posted("a length that is not a number", ["Content-Length: two"], "{}"),
  posted("a negative length", ["Content-Length: -1"], "{}"),
  posted("a length with a plus", ["Content-Length: +2"], "{}"),
  posted("a length in hexadecimal", ["Content-Length: 0x2"], "{}"),
  posted("a length with a fraction", ["Content-Length: 2.0"], "{}"),
  posted("a length with an exponent", ["Content-Length: 2e0"], "{}"),
  posted("a length with a space in it", ["Content-Length: 2 0"], "{}"),
  posted("an empty length", ["Content-Length:"], "{}"),
  posted("an overflowing length", ["Content-Length: 99999999999999999999999"], "{}"),
  posted("a length and a tab before its colon", ["Content-Length\t: 2"], "{}"),
  posted("a length and a space before its colon", ["Content-Length : 2"], "{}"),
  posted("a length after a bare CR", ["X-A: b\rContent-Length: 2"], "{}"),
  posted("an unknown encoding without a key", [close, "Transfer-Encoding: cow"], `{}${smuggled}`, 401),
  posted("chunks that are not the last encoding", ["Transfer-Encoding: chunked, gzip"], "0\r\n\r\n"),
  posted("chunks twice", ["Transfer-Encoding: chunked, chunked"], `0\r\n\r\n${smuggled}`),
  posted(
    "chunks and the identity",
    ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
    `0\r\n\r\n${smuggled}`
  ),
  posted("an encoding in quotes without a key", [close, 'Transfer-Encoding: "chunked"'], `0\r\n\r\n${smuggled}`, 401),
  posted("an encoding with a vertical tab", ["Transfer-Encoding: \u000bchunked"], `0\r\n\r\n${smuggled}`),
  posted("an encoding and a space before its colon", ["Transfer-Encoding : chunked"], `0\r\n\r\n${smuggled}`),
  posted("an encoding in a folded line", ["Transfer-Encoding:", " chunked"], `0\r\n\r\n${smuggled}`),
  posted("an encoding after a NUL", ["Transfer-Encoding: \0chunked"], `0\r\n\r\n${smuggled}`)
]

/** Malformed chunks. */
const chunks = [
  chunked("a chunk without a size", "\r\n{}\r\n0\r\n\r\n"),
  chunked("a chunk size that is not a number", "zz\r\n{}\r\n0\r\n\r\n"),
  chunked("a negative chunk size", "-2\r\n{}\r\n0\r\n\r\n"),
  chunked("a chunk size with a plus", "+2\r\n{}\r\n0\r\n\r\n"),
  chunked("a chunk size with 0x", "0x2\r\n{}\r\n0\r\n\r\n"),
  chunked("a chunk with a space before its size", " 2\r\n{}\r\n0\r\n\r\n"),
  chunked("an overflowing chunk size", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
  chunked("a chunk longer than its size", "2\r\n{}{}\r\n0\r\n\r\n"),
  chunked("a chunk whose size ends with a LF", "2\n{}\r\n0\r\n\r\n"),
  chunked("a chunk that ends with a LF", "2\r\n{}\n0\r\n\r\n"),
  chunked("a chunk with a NUL in its extension", "2;a=\0\r\n{}\r\n0\r\n\r\n"),
  chunked("a chunk with a bare CR in its extension", "2;a\rb\r\n{}\r\n0\r\n\r\n"),
  chunked("a chunk with an extension", `2;a=b\r\n{}\r\n0\r\n\r\n${smuggled}`),
  chunked("a chunk with a very long extension", `2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  chunked("a trailer without a colon", "2\r\n{}\r\n0\r\nBroken\r\n\r\n"),
  chunked("very long trailers", `2\r\n{}\r\n0\r\n${"X-A: b\r\n".repeat(4000)}\r\n`, 431)
]

const headers = [
  got("a header without a colon", "Broken header"),
  got("a header without a name", ": 1"),
  got("a header name with a space", "Bro ken: 1"),
  got("a header name with a space at its end", "Broken : 1"),
  got("a header name with a NUL", "Bro\0ken: 1"),
  got("a header name with a slash", "Bro/ken: 1"),
  got("a header name that is not ASCII", "Br\u00f6ken: 1"),
  got("a NUL in a header", "X-Broken: a\0b"),
  got("a bell in a header", "X-Broken: a\u0007b"),
  got("a DEL in a header", "X-Broken: a\u007fb"),
  got("a bare CR in a header", "X-Broken: a\rb"),
  got("a folded header", "X-Broken: a", " b"),
  got("a header that is folded with a tab", "X-Broken: a", "\tb"),
  raw("a fold before any header", `GET /healthz HTTP/1.1\r\n ${host}\r\n\r\n`),
  raw("lines that end with LF", `GET /healthz HTTP/1.1\n${host}\n\n`),
  raw("lines that end with CR", `GET /healthz HTTP/1.1\r${host}\r\r`),
  asked("a request without a Host", "GET /healthz HTTP/1.1", [close]),
  asked("a request with two Hosts", "GET /healthz HTTP/1.1", [host, "Host: elsewhere.test", close]),
  asked(
    "3,000 headers",
    "GET /healthz HTTP/1.1",
    [host, ...Array.from({ length: 3000 }, (_, index) => `X-${index}: a`)],
    "",
    431
  ),
  got("an unknown expectation", "Expect: a-miracle"),
  got("an empty expectation", "Expect:")
]

const lines = [
  line("an unknown method", "FOO /v1/locations HTTP/1.1"),
  line("a method in lower case", "get /healthz HTTP/1.1"),
  line("a method with a NUL", "G\0T /healthz HTTP/1.1"),
  line("a method that is not ASCII", "G\u00cbT /healthz HTTP/1.1"),
  line("an empty method", " /healthz HTTP/1.1"),
  line("a very long method", `${"G".repeat(20_000)} /healthz HTTP/1.1`),
  line("a version that does not exist", "GET / HTTP/9.9"),
  line("a version with two digits", "GET / HTTP/1.10"),
  line("a version in lower case", "GET / http/1.1"),
  line("a version of another protocol", "GET / ICY/1.1"),
  line("a version with a space at its end", "GET / HTTP/1.1 "),
  line("a version without a minor number", "GET /healthz HTTP/1"),
  line("a request without a path", "GET HTTP/1.1"),
  line("a raw space in the path", "GET /v1/lo cations HTTP/1.1"),
  line("a tab in the path", "GET /v1/lo\tcations HTTP/1.1"),
  line("a NUL in the path", "GET /v1/\0 HTTP/1.1"),
  line("a byte that is not ASCII in the path", "GET /v1/\u00df HTTP/1.1"),
  line("a very long path", `GET /${"a".repeat(20_000)} HTTP/1.1`, 414),
  line("a path without a slash", "GET healthz HTTP/1.1"),
  line("an asterisk in place of a path", "GET * HTTP/1.1", 404),
  line("an asterisk in place of the slash of a path", "GET *healthz HTTP/1.1", 404),
  line("an asterisk in place of the slash of a path, for its methods", "OPTIONS *v1/locations HTTP/1.1", 404),
  line("a path in the form of an authority", "CONNECT example.com:443 HTTP/1.1", "closed"),
  line("a method for a proxy with a path", "CONNECT /healthz HTTP/1.1", "closed"),
  line("a URL of another host", "GET http://example.com/v1/nothing HTTP/1.1", 404),
  line("a URL with an unknown scheme", "GET gopher://example.com/ HTTP/1.1", 404),
  line("a percent sign that encodes nothing", "GET /v1/%zz HTTP/1.1", 404),
  line("an encoded NUL in the path without a key", "GET /v1/locations/%00 HTTP/1.1", 401)
]

const otherProtocols = [
  raw("a TLS hello", "\u0016\u0003\u0001\0\u00a5\u0001\0\0\u00a1\u0003\u0003\r\n\r\n"),
  raw("noise", "\u0001\u0002 what is this\r\n\r\n"),
  raw("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  raw("an SSH banner", "SSH-2.0-OpenSSH_9.2\r\n\r\n"),
  raw("a Redis command", "*1\r\n$4\r\nPING\r\n"),
  raw("a header of the PROXY protocol", `PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n${smuggled}`),
  raw("a response", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
  asked(
    "an upgrade to a WebSocket",
    "GET /v1/nothing HTTP/1.1",
    [host, "Connection: upgrade, close", "Upgrade: websocket"],
    "",
    404
  ),
  asked(
    "an upgrade to HTTP/2",
    "GET /v1/nothing HTTP/1.1",
    [host, "Connection: upgrade, close", "Upgrade: h2c"],
    "",
    404
  )
]

/** All raw requests. */
export const rawRequests: ReadonlyArray<Raw> = [...otherProtocols, ...lines, ...headers, ...framing, ...chunks]
