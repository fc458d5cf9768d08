import chromium from "@sparticuz/chromium"

/** Unpacks the browser before the tests start: two processes that unpack at once each find a file that the other still writes. */
export default async () => void (await chromium.executablePath())
