/** Keys and record of a {@code remap} rule. */
@NullMarked
package io.millrace.proxy.config.remap;

import org.jspecify.annotations.NullMarked;
