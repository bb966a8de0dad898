/** Configuration keys with type, bounds and default; values by key; the general keys and their records. */
@NullMarked
package io.millrace.proxy.config.key;

import org.jspecify.annotations.NullMarked;
