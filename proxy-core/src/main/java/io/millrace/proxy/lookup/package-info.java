/** Step 7: where a stored response is looked for - RAM, disk, and the fetches in flight that others may share. */
@NullMarked
package io.millrace.proxy.lookup;

import org.jspecify.annotations.NullMarked;
