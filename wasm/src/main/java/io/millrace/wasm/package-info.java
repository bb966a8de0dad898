/**
 * An extension that runs modules of the Proxy-Wasm ABI 0.2.1: code in WebAssembly, with limits of memory and time. The
 * guide is {@code docs/guide/wasm.md}.
 */
@NullMarked
package io.millrace.wasm;

import org.jspecify.annotations.NullMarked;
