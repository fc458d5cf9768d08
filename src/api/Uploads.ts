import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { FileNotFoundError } from "../domain/assets/File.ts"
import {
  CompletedUpload,
  PartUrls,
  PartUrlsRequest,
  Upload,
  UploadComplete,
  UploadId,
  UploadInit,
  UploadSession
} from "../domain/assets/Upload.ts"
import { requires } from "./Authorization.ts"
import { describe } from "./Describe.ts"
import * as Envelope from "./Envelope.ts"
import { limits } from "./Limits.ts"

const uuid = { uuid: UploadId }

/** Files, brought in parts straight to where they are stored. */
export class UploadsApi extends HttpApiGroup.make("uploads")
  .add(
    HttpApiEndpoint.post("initialize", "/init-multi-part", {
      payload: UploadInit,
      success: Envelope.CreatedRecord(UploadSession)
    }).pipe(
      requires("create:uploads"),
      describe(
        "Initialize multipart upload",
        "Answers where each part goes: PUT its bytes to the `url` and keep the `ETag` header of the answer. With `sha256` the content is verified, and `duplicateOf` tells of an asset that has it already."
      )
    ),
    HttpApiEndpoint.put("complete", "/complete-multi-part", {
      payload: UploadComplete,
      success: Envelope.One(CompletedUpload),
      error: FileNotFoundError
    }).pipe(
      requires("create:uploads"),
      // The storage copies large files when it joins their parts.
      limits({ answerMillis: 3_600_000 }),
      describe(
        "Complete multipart upload",
        "Joins the parts into a file when all of them are there and the size is the declared one. Repeating it gives the same answer."
      )
    ),
    HttpApiEndpoint.get("get", "/:uuid", {
      params: uuid,
      success: Envelope.One(Upload),
      error: FileNotFoundError
    }).pipe(
      requires("create:uploads"),
      describe("Get an upload", "How far an upload of this key is: which parts have arrived, so that it can go on.")
    ),
    HttpApiEndpoint.post("renewParts", "/:uuid/parts", {
      params: uuid,
      payload: PartUrlsRequest,
      success: Envelope.One(PartUrls),
      error: FileNotFoundError
    }).pipe(
      requires("create:uploads"),
      describe("Renew part URLs", "Fresh addresses for parts that are still to come.")
    ),
    HttpApiEndpoint.delete("abort", "/:uuid", {
      params: uuid,
      success: Envelope.Written(UploadId),
      error: FileNotFoundError
    }).pipe(
      requires("create:uploads"),
      describe("Abort an upload", "Ends an upload that is not completed and throws its bytes away.")
    )
  )
  .prefix("/v1/uploads")
  .annotateMerge(
    OpenApi.annotations({
      title: "Uploads",
      description: "Files, brought in parts straight to where they are stored, and then made into assets."
    })
  ) {}
