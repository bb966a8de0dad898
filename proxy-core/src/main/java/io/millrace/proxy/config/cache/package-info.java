/** Keys and records of {@code cache} and {@code cache_rules}. */
@NullMarked
package io.millrace.proxy.config.cache;

import org.jspecify.annotations.NullMarked;
