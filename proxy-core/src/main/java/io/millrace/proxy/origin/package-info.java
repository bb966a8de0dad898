/**
 * Groups of origins: which host of a group gets a request, which are up, and whether another may be asked. Choosing is pure: no
 * I/O, and the time is passed in. {@code exchange} asks, and tells how it went.
 */
@NullMarked
package io.millrace.proxy.origin;

import org.jspecify.annotations.NullMarked;
