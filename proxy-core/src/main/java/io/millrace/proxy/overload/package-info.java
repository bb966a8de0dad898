/** Whether an origin, or this proxy, has more to do than it can, so that what is stored serves longer for a while. */
@NullMarked
package io.millrace.proxy.overload;

import org.jspecify.annotations.NullMarked;
