import sharp from "sharp"
import { noise, randomOf } from "../../../test/support/Random.ts"

/** 12 megapixels, as a telephone takes them. */
const photoSize = { width: 4000, height: 3000 }

/** Colours that flow into each other, and some shapes, like a landscape out of focus. */
const scene = (number: number) => {
  const random = randomOf(number)
  const [width, height] = [photoSize.width / 4, photoSize.height / 4]
  const colour = () => `hsl(${Math.floor(random() * 360)}, 60%, ${20 + Math.floor(random() * 60)}%)`
  const stops = [0, 35, 70, 100].map((offset) => `<stop offset="${offset}%" stop-color="${colour()}"/>`).join("")
  const shapes = Array.from({ length: 40 }, () => {
    const [x, y, r] = [random() * width, random() * height, 20 + random() * 120].map(Math.round)
    return `<circle cx="${x}" cy="${y}" r="${r}" fill="${colour()}" opacity="0.5"/>`
  })
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs>
    <linearGradient id="sky" x2="1" y2="1">${stops}</linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#sky)"/>${shapes.join("")}</svg>`
  )
}

/** A photo with the grain of a sensor, which is what makes a JPEG of it as large as those of cameras. */
export const photo = async (number: number): Promise<Buffer> => {
  const raw = { ...photoSize, channels: 3 } as const
  // As bright as the middle, give or take a tenth.
  const grain = sharp(noise(raw.width * raw.height * raw.channels, number), { raw }).linear(0.18, 105)
  // In two steps, because a drawing would otherwise be drawn in the larger size, which takes seconds.
  const small = await sharp(scene(number)).flatten().raw().toBuffer({ resolveWithObject: true })
  const large = await sharp(small.data, { raw: small.info }).resize(photoSize).raw().toBuffer()
  const pixels = await sharp(large, { raw })
    .composite([{ input: await grain.raw().toBuffer(), raw, blend: "soft-light" }])
    .raw()
    .toBuffer()
  return sharp(pixels, { raw }).jpeg({ quality: 90 }).toBuffer()
}

/** What making the two pictures of a photo costs when nothing but the library is in between. */
export const resizeByHand = async (photo: Uint8Array): Promise<void> => {
  const options = { fit: "inside", withoutEnlargement: true } as const
  const preview = sharp(photo).resize({ width: 1200, height: 1200, ...options })
  const { data, info } = await preview.raw().toBuffer({ resolveWithObject: true })
  const thumbnail = sharp(data, { raw: info }).resize({ width: 300, height: 300, ...options })
  await sharp(data, { raw: info }).webp({ quality: 80 }).toBuffer()
  await thumbnail.webp({ quality: 80 }).toBuffer()
}
