import { useEffect, useState } from "react"

const maxAttempts = 5
const pauseMillis = 2000

/** The thumbnail of a file. A service under load may reject the request, which a browser does not repeat. */
export const Thumbnail = ({ src }: { readonly src: string }) => {
  const [attempt, setAttempt] = useState(1)
  const [isFailed, setFailed] = useState(false)
  useEffect(() => {
    if (!isFailed || attempt >= maxAttempts) return
    const timer = setTimeout(() => {
      setFailed(false)
      setAttempt(attempt + 1)
    }, attempt * pauseMillis)
    return () => clearTimeout(timer)
  }, [attempt, isFailed])
  return <img key={attempt} src={src} alt="" loading="lazy" onError={() => setFailed(true)} />
}
