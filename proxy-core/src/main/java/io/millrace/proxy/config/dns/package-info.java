/** Keys and record of {@code dns}. */
@NullMarked
package io.millrace.proxy.config.dns;

import org.jspecify.annotations.NullMarked;
