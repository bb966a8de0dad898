/** Keys and records of listeners, {@code access}, {@code filters}, {@code forward_proxy} and limits. */
@NullMarked
package io.millrace.proxy.config.access;

import org.jspecify.annotations.NullMarked;
