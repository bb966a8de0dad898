/**
 * The data formats and tables of the Proxy-Wasm ABI that need no instance of a module: status numbers, lists of fields,
 * shared data, and the log.
 */
@NullMarked
package io.millrace.wasm.abi;

import org.jspecify.annotations.NullMarked;
