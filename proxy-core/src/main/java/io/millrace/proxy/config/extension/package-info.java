/** Keys and settings of extensions: code of other parties, which implements {@link io.millrace.proxy.spi}. */
@NullMarked
package io.millrace.proxy.config.extension;

import org.jspecify.annotations.NullMarked;
