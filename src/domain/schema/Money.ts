import { Schema } from "effect"
import { documented } from "./Checks.ts"
import { normalise } from "./Normalise.ts"
import { int } from "./WholeNumber.ts"

/** The active codes of ISO 4217. `Intl.supportedValuesOf` cannot stand in for this list: it also knows the German mark. */
const active =
  "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP " +
  "CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR " +
  "IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU " +
  "MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG " +
  "SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV " +
  "WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG"

const known: ReadonlySet<string> = new Set(active.split(" "))

/** An ISO 4217 code; upper-cased on input. */
export const Currency = Schema.String.check(documented({ pattern: "^[A-Za-z]{3}$" })).pipe(
  Schema.decodeTo(
    Schema.String.check(
      Schema.makeFilter<string>((code) => known.has(code), {
        expected: "an ISO 4217 currency code such as EUR",
        code: "unknownCurrency"
      })
    ),
    normalise((value) => (/^\s*[A-Za-z]{3}\s*$/.test(value) ? value.trim().toUpperCase() : value))
  ),
  Schema.annotateEncoded({ examples: ["EUR"], description: "ISO 4217" })
)

/** An amount in the smallest unit of its currency, whose exponent is that of ISO 4217: 1250 is 12.50 EUR or 1250 JPY. */
export const AmountMinor = int(0, 1_000_000_000_000).annotate({
  examples: [1250],
  description: "In the smallest unit of the currency: 1250 is 12.50 EUR."
})

/** An amount of money. No floats: they cannot say 0.1. */
export const Money = Schema.Struct({ amountMinor: AmountMinor, currency: Currency }).annotate({ identifier: "Money" })
export type Money = typeof Money.Type
