/** The contents of responses that modules read and change, and the limit of the bytes that they hold together. */
@NullMarked
package io.millrace.wasm.body;

import org.jspecify.annotations.NullMarked;
