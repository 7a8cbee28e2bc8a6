/** A JSON Pointer (RFC 6901) to a value in a payload; not the whole payload. */
export const searchKeyForm = /^(?:\/(?:[^~/]|~[01])*)+$/;
