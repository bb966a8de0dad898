/** Keys and record of {@code dns}, the name resolution of origins. */
@NullMarked
package io.millrace.proxy.config.dns;

import org.jspecify.annotations.NullMarked;
