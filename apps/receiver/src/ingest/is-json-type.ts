const jsonType = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Whether a `Content-Type` says that the body is JSON: `application/json` or `application/<any>+json`, whatever its parameters. */
export function isJsonType(contentType: string): boolean {
  return jsonType.test(contentType);
}
