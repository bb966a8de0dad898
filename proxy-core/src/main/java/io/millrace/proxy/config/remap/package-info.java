/** Keys and record of one {@code remap} rule. */
@NullMarked
package io.millrace.proxy.config.remap;

import org.jspecify.annotations.NullMarked;
