/** Step 7: lookup of stored responses in RAM and on disk, and of fetches in flight that others may join. */
@NullMarked
package io.millrace.proxy.lookup;

import org.jspecify.annotations.NullMarked;
