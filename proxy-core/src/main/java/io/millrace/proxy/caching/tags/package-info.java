/** Cache tags: their fields, parsing and keyed hashes. No I/O, no clock. */
@NullMarked
package io.millrace.proxy.caching.tags;

import org.jspecify.annotations.NullMarked;
